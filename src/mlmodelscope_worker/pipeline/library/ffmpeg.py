"""Whatever ffmpeg can read, in a process of its own: of the package imageio-ffmpeg, or the one on the path.

It gets the bytes through a pipe and may open nothing else, so that a playlist cannot read other files.
"""

import shutil
import subprocess

from ..value import SampleError
from ..wave_file import read_wave, samples_of

TIME_LIMIT_S = 300


def _program():
    try:
        import imageio_ffmpeg
    except ImportError:
        found = shutil.which("ffmpeg")
        if found is None:
            raise ModuleNotFoundError("there is no program ffmpeg")
        return found
    return imageio_ffmpeg.get_ffmpeg_exe()


_FFMPEG = _program()


def decode(encoded, most):
    """(fractions, 0, rate, first sample); the process is stopped when it takes long or writes much."""
    if not len(encoded.data):
        raise SampleError("the file is empty")
    bound = 4 * most + 65536
    command = [_FFMPEG, "-v", "error", "-nostdin", "-threads", "1", "-protocol_whitelist", "pipe", "-i", "pipe:0"]
    command += ["-map", "0:a:0", "-fs", str(bound), "-c:a", "pcm_f32le", "-f", "wav", "pipe:1"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, said = process.communicate(bytes(encoded.data), timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise SampleError("ffmpeg did not finish within %d s" % TIME_LIMIT_S)
    if process.returncode or not out:
        lines = said.decode("utf-8", "replace").strip().split("\n")
        raise SampleError("ffmpeg cannot read it: %s" % (lines[-1][-200:] or "it has no sound"))
    found = read_wave(out, is_stream=True)
    if found.count * found.channels > most:
        raise SampleError("it has more than the %d samples allowed" % most)
    first, end = encoded.piece(found.rate, found.count)
    return samples_of(out, found, first, end), 0, found.rate, first
