"""An ONNX file behind MLServer: a custom runtime, as its documentation says to write one."""

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class Onnx(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(self.settings.parameters.uri, options, ["CPUExecutionProvider"])
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        given = {each.name: NumpyCodec.decode_input(each) for each in payload.inputs}
        names = [each.name for each in self._session.get_outputs()]
        answers = self._session.run(names, given)
        outputs = [NumpyCodec.encode_output(name, answer) for name, answer in zip(names, answers, strict=True)]
        return InferenceResponse(model_name=self.name, outputs=outputs)
