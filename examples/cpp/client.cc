// Asks a server of MLModelScope for an evaluation over gRPC, says what happens as it happens, and prints the top-1.
//
//   ./client ADDRESS MODEL [DATASET]        such as: ./client localhost:8643 efficientnet-lite0 imagenet-70
//
// A token, where the server wants one, is taken from MLMODELSCOPE_TOKEN; with MLMODELSCOPE_CA, a PEM file, it is TLS.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <grpcpp/grpcpp.h>

#include "mlmodelscope.grpc.pb.h"

namespace api = mlmodelscope::v1;

namespace {

constexpr int kMostTries = 10;  // to reach a server again that was lost while we listened

std::string setting(const char* name) {
  const char* found = std::getenv(name);
  return found == nullptr ? "" : found;
}

std::shared_ptr<grpc::Channel> connect(const std::string& address) {
  const std::string file = setting("MLMODELSCOPE_CA");
  if (file.empty()) return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs.assign(std::istreambuf_iterator<char>(stream), {});
  return grpc::CreateChannel(address, grpc::SslCredentials(options));
}

void sign(grpc::ClientContext& context) {
  const std::string token = setting("MLMODELSCOPE_TOKEN");
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
}

void demand(const grpc::Status& status) {
  if (status.ok()) return;
  std::ostringstream text;
  text << status.error_message() << " (gRPC status " << status.error_code() << ")";
  throw std::runtime_error(text.str());
}

api::Evaluation ask(api::Requests::Stub& requests, const std::string& model, const std::string& dataset) {
  api::AskForWorkRequest question;
  question.mutable_request()->mutable_model()->set_name(model);
  if (!dataset.empty()) question.mutable_request()->mutable_dataset()->set_name(dataset);
  grpc::ClientContext context;
  sign(context);
  api::Accepted accepted;
  demand(requests.AskForWork(&context, question, &accepted));
  return accepted.evaluations(0);
}

double number(const api::Event& event, const std::string& name) {
  const auto found = event.facts().fields().find(name);
  return found == event.facts().fields().end() ? 0 : found->second.number_value();
}

// Until it has ended. A server that is started again is asked for what came after the last event that was seen.
void follow(api::Evaluations::Stub& evaluations, const std::string& id) {
  std::int64_t seen = 0;
  for (int tries = 0;; ++tries) {
    api::FollowEvaluationRequest question;
    question.set_id(id);
    question.set_after(seen);
    grpc::ClientContext context;
    context.set_wait_for_ready(tries > 0);
    sign(context);
    const auto events = evaluations.FollowEvaluation(&context, question);
    for (api::Event event; events->Read(&event);) {
      seen = event.number();
      tries = 0;
      std::cout << event.kind();
      if (event.kind() == "progress") std::cout << " " << number(event, "done") << "/" << number(event, "of");
      std::cout << std::endl;
    }
    const grpc::Status status = events->Finish();
    const auto code = status.error_code();
    // A server that stops says UNAVAILABLE; when it is almost gone, gRPC itself says CANCELLED.
    const bool lost = code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED;
    if (!lost || tries == kMostTries) return demand(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

template <typename Answer, typename Stub, typename Question>
Answer get(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Question&, Answer*),
           const Question& question) {
  grpc::ClientContext context;
  sign(context);
  Answer answer;
  demand((stub.*method)(&context, question, &answer));
  return answer;
}

void run(const std::string& address, const std::string& model, const std::string& dataset) {
  const auto channel = connect(address);
  api::Requests::Stub requests(channel);
  api::Evaluations::Stub evaluations(channel);
  api::Records::Stub records(channel);

  const std::string id = ask(requests, model, dataset).id();
  follow(evaluations, id);

  api::GetEvaluationRequest which;
  which.set_id(id);
  const auto ended = get(evaluations, &api::Evaluations::Stub::GetEvaluation, which);
  if (ended.state() != "finished") {
    throw std::runtime_error(ended.state() + (ended.has_error() ? ": " + ended.error().message() : ""));
  }

  api::GetRecordRequest record;
  record.set_name(ended.record());
  const auto found = get(records, &api::Records::Stub::GetRecord, record);
  if (!found.metrics().has_top1()) throw std::runtime_error("the record " + found.id() + " has no top-1");
  const api::Interval& top1 = found.metrics().top1();
  std::cout << "top1 " << top1.value() << " [" << top1.low() << ", " << top1.high() << "] of " << found.samples()
            << " samples, record " << found.id() << std::endl;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || count > 4) {
    std::cerr << "usage: " << words[0] << " ADDRESS MODEL [DATASET]" << std::endl;
    return 2;
  }
  try {
    run(words[1], words[2], count > 3 ? words[3] : "");
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
