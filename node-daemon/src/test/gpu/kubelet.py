"""A kubelet for one device plugin: the registration service and the client of the plugin, without generated code."""

import os
import threading
import time
from concurrent import futures

import grpc


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(data):
    """Fields by number; each a list of bytes or numbers."""
    fields, at = {}, 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = read()
        if tag & 7 == 0:
            value = read()
        elif tag & 7 == 2:
            length = read()
            value = data[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {tag & 7}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def text(fields, number):
    return fields[number][0].decode() if number in fields else ""


def entries(fields, number):
    pairs = (message(entry) for entry in fields.get(number, []))
    return {text(pair, 1): text(pair, 2) for pair in pairs}


RAW = lambda data: data


class Kubelet:
    """Serves Register and keeps each list of devices with the monotonic time at which it came."""

    def __init__(self, directory):
        self.directory = directory
        self.lists = []
        self.changed = threading.Condition()
        self.resource = ""
        self.channel = None
        method = grpc.unary_unary_rpc_method_handler(self._register, RAW, RAW)
        self.server = grpc.server(futures.ThreadPoolExecutor(4))
        handler = grpc.method_handlers_generic_handler("v1beta1.Registration", {"Register": method})
        self.server.add_generic_rpc_handlers((handler,))
        self.server.add_insecure_port(f"unix:{directory}/kubelet.sock")
        self.server.start()

    def _register(self, request, context):
        fields = message(request)
        self.resource = text(fields, 3)
        socket = os.path.join(self.directory, text(fields, 2))
        self.channel = grpc.insecure_channel(f"unix:{socket}", options=[("grpc.default_authority", "localhost")])
        threading.Thread(target=self._watch, args=(self.channel,), daemon=True).start()
        return b""

    def _watch(self, channel):
        try:
            call = channel.unary_stream("/v1beta1.DevicePlugin/ListAndWatch", RAW, RAW)
            for answer in call(b""):
                now = time.monotonic()
                devices = {text(d, 1): text(d, 2) for d in map(message, message(answer).get(1, []))}
                with self.changed:
                    self.lists.append((now, devices))
                    self.changed.notify_all()
        except grpc.RpcError:
            return

    def wait(self, health, after=0.0, seconds=60):
        """The time of the first list after a time in which every device has a health; None if none comes."""
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                for at, devices in self.lists:
                    if at >= after and devices and set(devices.values()) == {health}:
                        return at
                left = end - time.monotonic()
                if left <= 0:
                    return None
                self.changed.wait(left)

    def devices(self):
        return self.lists[-1][1] if self.lists else {}

    def allocate(self, device):
        request = field(1, field(1, device.encode()))
        call = self.channel.unary_unary("/v1beta1.DevicePlugin/Allocate", RAW, RAW)
        answer = message(message(call(request, timeout=10))[1][0])
        return {
            "envs": entries(answer, 1),
            "mounts": [(text(m, 1), text(m, 2)) for m in map(message, answer.get(2, []))],
            "devices": [(text(d, 1), text(d, 2)) for d in map(message, answer.get(3, []))],
            "annotations": entries(answer, 4),
            "cdi": [text(message(name), 1) for name in answer.get(5, [])],
        }

    def close(self):
        self.server.stop(0)
