/* Calls an ONNX model from C and says what each call took.

     calls LIBRARY MODEL THREADS OPTIMISATION INPUT OUTPUT

   Requests on standard input, one a line, each answered by one line on standard output:

     tensor TYPE BYTES RANK SIZE... FILE   load what the model is to get
     run COUNT                             "ok", then wall and processor nanoseconds of each call
     answer FILE                           write what the model answers to a file

   ONNX Runtime's wheels bring its library but no header. Its C interface is a table of functions whose first hundred
   entries have had the same places since version 1 and never move; the few that are needed here are named below. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum place {
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_LOG_SEVERITY = 22,
  SET_OPTIMISATION = 23,
  SET_THREADS_INSIDE = 24,
  SET_THREADS_BETWEEN = 25,
  CREATE_TENSOR = 49,
  GET_DATA = 51,
  GET_COUNT = 64,
  GET_SHAPE = 65,
  CREATE_CPU_MEMORY = 69,
  RELEASE_VALUE = 96,
  RELEASE_SHAPE = 99
};

typedef void *status; /* nothing where all went well */
typedef struct {
  void *const *(*table)(uint32_t version);
  const char *(*version)(void);
} library_base;

static void *const *api;
#define CALL(result, place, ...) ((result(*)(__VA_ARGS__))api[place])

static void *session, *memory;
static const char *input_name, *output_name;
static void *content;
static size_t content_bytes, element_bytes;
static int64_t shape[16];
static size_t rank;
static int element_type;

static const char *reason(status failed) { return CALL(const char *, GET_ERROR_MESSAGE, status)(failed); }

static void must(status failed) {
  if (failed) {
    fprintf(stderr, "%s\n", reason(failed));
    exit(1);
  }
}

static int64_t now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void open_model(char **arguments) {
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  const library_base *(*base)(void) = (const library_base *(*)(void))dlsym(library, "OrtGetApiBase");
  if (!base || !(api = base()->table(1))) {
    fprintf(stderr, "this library has no C interface of version 1\n");
    exit(1);
  }
  void *environment, *options;
  must(CALL(status, CREATE_ENV, int, const char *, void **)(3, "calls", &environment));
  must(CALL(status, CREATE_SESSION_OPTIONS, void **)(&options));
  must(CALL(status, SET_LOG_SEVERITY, void *, int)(options, 3));
  must(CALL(status, SET_OPTIMISATION, void *, int)(options, atoi(arguments[4])));
  must(CALL(status, SET_THREADS_INSIDE, void *, int)(options, atoi(arguments[3])));
  must(CALL(status, SET_THREADS_BETWEEN, void *, int)(options, 1));
  must(CALL(status, CREATE_SESSION, void *, const char *, void *, void **)(environment, arguments[2], options, &session));
  must(CALL(status, CREATE_CPU_MEMORY, int, int, void **)(1, 0, &memory));
  input_name = arguments[5];
  output_name = arguments[6];
}

/* What Python's session.run does for NumPy's memory: wrap it, run, look at the answer. */
static status call(void **answer) {
  void *input = NULL;
  status failed = CALL(status, CREATE_TENSOR, void *, void *, size_t, const int64_t *, size_t, int, void **)(
      memory, content, content_bytes, shape, rank, element_type, &input);
  if (failed) return failed;
  *answer = NULL;
  failed = CALL(status, RUN, void *, void *, const char *const *, void *const *, size_t, const char *const *, size_t,
                void **)(session, NULL, &input_name, &input, 1, &output_name, 1, answer);
  CALL(void, RELEASE_VALUE, void *)(input);
  return failed;
}

static void release(void *value) { CALL(void, RELEASE_VALUE, void *)(value); }

static void say_failed(status failed) { printf("error %s\n", reason(failed)); }

static void load(char *words) {
  element_type = atoi(strtok(words, " "));
  element_bytes = (size_t)atoi(strtok(NULL, " "));
  rank = (size_t)atoi(strtok(NULL, " "));
  content_bytes = element_bytes;
  for (size_t at = 0; at < rank && at < 16; at++) {
    shape[at] = atoll(strtok(NULL, " "));
    content_bytes *= (size_t)shape[at];
  }
  const char *path = strtok(NULL, ""); /* the rest: a path may have spaces */
  free(content);
  if (posix_memalign(&content, 64, content_bytes)) exit(1);
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (!file || fread(content, 1, content_bytes, file) != content_bytes) {
    printf("error the tensor cannot be read\n");
  } else {
    printf("ok\n");
  }
  if (file) fclose(file);
}

static void run(int count) {
  int64_t *spent = malloc(2 * sizeof *spent * (size_t)(count > 0 ? count : 1));
  for (int at = 0; at < count; at++) {
    void *answer, *data;
    int64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    status failed = call(&answer);
    if (!failed) failed = CALL(status, GET_DATA, void *, void **)(answer, &data);
    if (failed) {
      say_failed(failed);
      free(spent);
      return;
    }
    release(answer);
    spent[2 * at] = now(CLOCK_MONOTONIC) - wall;
    spent[2 * at + 1] = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  }
  printf("ok");
  for (int at = 0; at < 2 * count; at++) printf(" %lld", (long long)spent[at]);
  printf("\n");
  free(spent);
}

static void write_answer(const char *path) {
  void *answer, *data, *described;
  size_t count = 0;
  status failed = call(&answer);
  if (!failed) failed = CALL(status, GET_DATA, void *, void **)(answer, &data);
  if (!failed) failed = CALL(status, GET_SHAPE, void *, void **)(answer, &described);
  if (!failed) failed = CALL(status, GET_COUNT, void *, size_t *)(described, &count);
  if (failed) {
    say_failed(failed);
    return;
  }
  FILE *file = fopen(path, "wb");
  size_t written = file ? fwrite(data, 4, count, file) : 0; /* answers are float32 */
  if (file) fclose(file);
  CALL(void, RELEASE_SHAPE, void *)(described);
  release(answer);
  printf(written == count ? "ok\n" : "error the answer cannot be written\n");
}

int main(int count, char **arguments) {
  static char line[8192];
  if (count != 7) return 2;
  open_model(arguments);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, "tensor ", 7)) load(line + 7);
    else if (!strncmp(line, "run ", 4)) run(atoi(line + 4));
    else if (!strncmp(line, "answer ", 7)) write_answer(line + 7);
    else printf("error unknown request\n");
    fflush(stdout);
  }
  return 0;
}
