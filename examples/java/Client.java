// Asks a server of MLModelScope for an evaluation over HTTP, says what happens as it happens, and prints the top-1.
//
//   java Client.java URL MODEL [DATASET]
//   java Client.java http://localhost:8642 efficientnet-lite0 imagenet-70
//
// Nothing but the JDK (11 or newer) is needed. A token, where the server wants one, is taken from MLMODELSCOPE_TOKEN.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

public class Client {
    private static final int MOST_TRIES = 120; // twice a second, to reach a server again that was lost meanwhile
    private static final Set<String> ENDED = Set.of("finished", "failed", "cancelled");

    private final HttpClient http = HttpClient.newBuilder()
        .connectTimeout(Duration.ofSeconds(10))
        .build();
    private final String url;
    private String lastEvent = "0";

    Client(String url) {
        this.url = url.replaceAll("/+$", "") + "/api/v1";
    }

    public static void main(String[] words) throws InterruptedException {
        if (words.length < 2 || words.length > 3) {
            System.err.println("usage: java Client.java URL MODEL [DATASET]");
            System.exit(2);
        }
        try {
            new Client(words[0]).run(words[1], words.length > 2 ? words[2] : null);
        } catch (IOException | Problem error) {
            System.err.println("error: " + (error.getMessage() == null ? error : error.getMessage()));
            System.exit(1);
        }
    }

    void run(String model, String dataset) throws IOException, InterruptedException {
        String body = "{\"model\": " + Json.write(model)
            + (dataset == null ? "" : ", \"dataset\": " + Json.write(dataset)) + "}";
        String id = Json.read(send(to("/requests").POST(HttpRequest.BodyPublishers.ofString(body))))
            .get("evaluations").get(0).get("id").text();
        follow(id);
        Json evaluation = get("/evaluations/" + id);
        if (!evaluation.get("state").text().equals("finished")) {
            Json error = evaluation.get("error");
            String reason = error.isNull() ? "" : ": " + error.get("message").text();
            throw new Problem(evaluation.get("state").text() + reason);
        }
        Json record = get("/records/" + evaluation.get("record").text());
        Json top1 = record.get("metrics").get("top1");
        if (top1.isNull()) {
            throw new Problem("the record " + record.get("id").text() + " has no top-1");
        }
        System.out.printf("top1 %s [%s, %s] of %s samples, record %s%n", top1.get("value").text(),
            top1.get("low").text(), top1.get("high").text(), record.get("samples").text(), record.get("id").text());
    }

    /** Until it has ended. A server that is started again is asked for what came after the last event that was seen. */
    void follow(String id) throws IOException, InterruptedException {
        for (int tries = 0;; tries++) {
            String before = lastEvent;
            IOException lost;
            try {
                if (listen(id)) {
                    return;
                }
                lost = new IOException("the server ended the stream before the evaluation had ended");
            } catch (IOException error) {
                lost = error;
            }
            tries = lastEvent.equals(before) ? tries : 0;
            if (tries == MOST_TRIES) {
                throw lost;
            }
            Thread.sleep(500);
        }
    }

    /** Server-sent events; whether the last one said that it has ended. */
    private boolean listen(String id) throws IOException, InterruptedException {
        HttpRequest request = to("/evaluations/" + id + "/events").header("Last-Event-ID", lastEvent).GET().build();
        HttpResponse<InputStream> response = http.send(request, BodyHandlers.ofInputStream());
        try (InputStream stream = response.body()) {
            if (response.statusCode() >= 500) {
                throw new IOException("the server answers " + response.statusCode());
            }
            if (response.statusCode() != 200) {
                throw problem(response.statusCode(), new String(stream.readAllBytes(), StandardCharsets.UTF_8));
            }
            BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
            for (String line; (line = lines.readLine()) != null;) {
                if (line.startsWith("data:") && tell(Json.read(line.substring(5)))) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean tell(Json event) {
        lastEvent = event.get("number").text();
        String kind = event.get("kind").text();
        boolean moves = kind.equals("progress");
        System.out.println(kind + (moves ? " " + event.get("done").text() + "/" + event.get("of").text() : ""));
        return ENDED.contains(kind);
    }

    private Json get(String path) throws IOException, InterruptedException {
        return Json.read(send(to(path).GET()));
    }

    private HttpRequest.Builder to(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", "application/json");
        String token = System.getenv("MLMODELSCOPE_TOKEN");
        return token == null || token.isEmpty() ? request : request.header("Authorization", "Bearer " + token);
    }

    private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpRequest question = request.timeout(Duration.ofSeconds(60)).build();
        HttpResponse<String> response = http.send(question, BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2) {
            throw problem(response.statusCode(), response.body());
        }
        return response.body();
    }

    /** What the server says is wrong (application/problem+json). */
    private static Problem problem(int status, String body) {
        try {
            return new Problem(Json.read(body).get("detail").text() + " (status " + status + ")");
        } catch (Problem unreadable) {
            return new Problem("the server answers with status " + status);
        }
    }

    static class Problem extends RuntimeException {
        Problem(String message) {
            super(message);
        }
    }

    /** Just enough JSON to read the answers: the JDK has none. */
    static final class Json {
        private final Object value; // Map, List, String (texts and numbers), Boolean or null

        private Json(Object value) {
            this.value = value;
        }

        static Json read(String text) {
            return new Json(new Reader(text).whole());
        }

        static String write(String text) {
            StringBuilder out = new StringBuilder("\"");
            for (char letter : text.toCharArray()) {
                if (letter == '"' || letter == '\\') {
                    out.append('\\').append(letter);
                } else if (letter < ' ') {
                    out.append(String.format("\\u%04x", (int) letter));
                } else {
                    out.append(letter);
                }
            }
            return out.append('"').toString();
        }

        Json get(String name) {
            return new Json(value instanceof Map ? ((Map<?, ?>) value).get(name) : null);
        }

        Json get(int index) {
            if (!(value instanceof List) || ((List<?>) value).size() <= index) {
                throw new Problem("the server's answer has no part number " + index);
            }
            return new Json(((List<?>) value).get(index));
        }

        boolean isNull() {
            return value == null;
        }

        String text() {
            if (value == null) {
                throw new Problem("the server's answer lacks something");
            }
            return value.toString();
        }

        private static final class Reader {
            private final String text;
            private int place;

            Reader(String text) {
                this.text = text;
            }

            Object whole() {
                Object found = value();
                skip();
                if (place != text.length()) {
                    throw wrong();
                }
                return found;
            }

            private Object value() {
                switch (next()) {
                    case '{':
                        return object();
                    case '[':
                        return array();
                    case '"':
                        return string();
                    case 't':
                        return word("true", Boolean.TRUE);
                    case 'f':
                        return word("false", Boolean.FALSE);
                    case 'n':
                        return word("null", null);
                    default:
                        return number();
                }
            }

            private Map<String, Object> object() {
                Map<String, Object> found = new LinkedHashMap<>();
                expect('{');
                while (next() != '}') {
                    String name = string();
                    expect(':');
                    found.put(name, value());
                    comma('}');
                }
                expect('}');
                return found;
            }

            private List<Object> array() {
                List<Object> found = new ArrayList<>();
                expect('[');
                while (next() != ']') {
                    found.add(value());
                    comma(']');
                }
                expect(']');
                return found;
            }

            private String string() {
                expect('"');
                StringBuilder found = new StringBuilder();
                while (letter() != '"') {
                    char letter = text.charAt(place++);
                    found.append(letter == '\\' ? escaped() : letter);
                }
                place++;
                return found.toString();
            }

            private char escaped() {
                char letter = letter();
                place++;
                switch (letter) {
                    case 'b':
                        return '\b';
                    case 'f':
                        return '\f';
                    case 'n':
                        return '\n';
                    case 'r':
                        return '\r';
                    case 't':
                        return '\t';
                    case 'u':
                        if (place + 4 > text.length()) {
                            throw wrong();
                        }
                        place += 4;
                        return (char) Integer.parseInt(text.substring(place - 4, place), 16);
                    default:
                        return letter;
                }
            }

            /** A number, as it is written. */
            private String number() {
                int start = place;
                while (place < text.length() && "+-.eE0123456789".indexOf(text.charAt(place)) >= 0) {
                    place++;
                }
                if (place == start) {
                    throw wrong();
                }
                return text.substring(start, place);
            }

            private Object word(String word, Object meaning) {
                if (!text.startsWith(word, place)) {
                    throw wrong();
                }
                place += word.length();
                return meaning;
            }

            private void comma(char end) {
                if (next() == ',') {
                    place++;
                } else if (next() != end) {
                    throw wrong();
                }
            }

            private void expect(char letter) {
                if (next() != letter) {
                    throw wrong();
                }
                place++;
            }

            private char next() {
                skip();
                return letter();
            }

            private char letter() {
                if (place >= text.length()) {
                    throw wrong();
                }
                return text.charAt(place);
            }

            private void skip() {
                while (place < text.length() && Character.isWhitespace(text.charAt(place))) {
                    place++;
                }
            }

            private Problem wrong() {
                return new Problem("the server's answer is no JSON at character " + place);
            }
        }
    }
}
