"""Checks the packaged daemon on a machine with a GPU against NVIDIA's own bindings, a kubelet and CUDA programs.

check.py PACKAGE DIRECTORY: PACKAGE is target/package of the node-daemon; reports and recordings are written to DIRECTORY.
Needs root, nvcc, and Python with nvidia-ml-py and grpcio. Changes no setting of the GPU and resets nothing.
"""

import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import pynvml

import container
from kubelet import Kubelet

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE, OUT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WORK = tempfile.mkdtemp(prefix="gpufleet-gpu-")
FAULTS = os.path.join(WORK, "faults")
RESULTS = []
PARTS = []
FIGURES = {}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


PORT = free_port()


def report(good, name, detail=""):
    RESULTS.append(good)
    print(f"{'PASS' if good else 'FAIL'}  {name}" + (f": {detail}" if detail else ""), flush=True)


def equal(name, ours, theirs):
    report(ours == theirs, name, f"{ours}" if ours == theirs else f"daemon {ours!r}, driver {theirs!r}")


def near(name, ours, theirs, tolerance):
    good = ours is not None and theirs is not None and abs(ours - theirs) <= tolerance
    report(good, name, f"daemon {ours}, driver {theirs}, tolerance {tolerance:g}")


def section(name):
    """Adds a part; they run in the order of the file."""
    def add(part):
        PARTS.append((name, part))
        return part
    return add


def run_parts():
    """An exception is a failure of its part and not of the others."""
    for name, part in PARTS:
        print(f"\n{name}", flush=True)
        try:
            part()
        except Exception as error:  # the other parts are worth their results
            report(False, name, f"{type(error).__name__}: {error}")


def program(*arguments, extra=None):
    return subprocess.run([f"{PACKAGE}/bin/node-daemon", *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(extra or {})})


def page(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=10) as answer:
        return answer.read().decode()


def metric(name, text=None):
    """Sum of a metric's samples."""
    found = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text or page("/metrics"), re.M)
    return sum(map(float, found)) if found else None


class Daemon:
    """The packaged daemon with files below a directory, without a broker."""

    def __init__(self, name, **settings):
        self.root = os.path.join(WORK, name)
        for part in ("state", "run", "kubelet", "cdi"):
            os.makedirs(os.path.join(self.root, part))
        self.kubelet = Kubelet(os.path.join(self.root, "kubelet"))
        self.environment = {
            **os.environ,
            "GPUFLEET_CLUSTER": "gpu-check", "GPUFLEET_NODE": "gpu-check", "GPUFLEET_KAFKA": "127.0.0.1:9",
            "GPUFLEET_HTTP_HOST": "127.0.0.1", "GPUFLEET_HTTP_PORT": str(PORT),
            "GPUFLEET_STATE_DIR": f"{self.root}/state", "GPUFLEET_RUN_DIR": f"{self.root}/run",
            "GPUFLEET_CDI_DIR": f"{self.root}/cdi", "GPUFLEET_DEVICE_PLUGIN_DIR": f"{self.root}/kubelet",
            "GPUFLEET_POD_RESOURCES_SOCKET": f"{self.root}/pod-resources.sock",
            "GPUFLEET_DEVICE_LIST_STRATEGY": "cdi-cri,host-mounts", **settings,
        }
        self.log = open(os.path.join(OUT, f"daemon-{name}.log"), "w")
        self.begun = time.monotonic()
        self.process = subprocess.Popen([f"{PACKAGE}/bin/node-daemon"], env=self.environment, stdout=self.log,
                                        stderr=subprocess.STDOUT)

    def descriptors(self):
        pid, open_files = self.process.pid, []
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                open_files.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                continue
        with open(f"/proc/{pid}/maps") as maps:
            open_files += [line.split()[-1] for line in maps if "/dev/nvidia" in line]
        return sorted({file for file in open_files if "/dev/nvidia" in file})

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            parts = stat.read().rsplit(")", 1)[1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/smaps_rollup") as rollup:
            kib = dict(re.findall(r"^(\w+):\s+(\d+) kB", rollup.read(), re.M))
        return {key: int(kib[key]) / 1024 for key in ("Rss", "Pss", "Anonymous")}

    def end(self):
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.kubelet.close()
        self.log.close()
        return time.monotonic() - begun


class NvmlEvents(threading.Thread):
    """Waits for XIDs by NVIDIA's bindings, in this process: the independent clock of an XID."""

    def __init__(self, handle):
        super().__init__(daemon=True)
        self.set = pynvml.nvmlEventSetCreate()
        pynvml.nvmlDeviceRegisterEvents(handle, pynvml.nvmlEventTypeXidCriticalError, self.set)
        self.events = []
        self.changed = threading.Condition()
        self.start()

    def run(self):
        while True:
            try:
                event = pynvml.nvmlEventSetWait_v2(self.set, 1000)
            except pynvml.NVMLError_Timeout:
                continue
            now = time.monotonic()
            with self.changed:
                self.events.append((now, event.eventData))
                self.changed.notify_all()

    def after(self, begun, seconds=10):
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                found = [event for event in self.events if event[0] >= begun]
                if found or time.monotonic() >= end:
                    return found
                self.changed.wait(end - time.monotonic())


def kernel_xids():
    done = subprocess.run(["dmesg"], capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if "NVRM: Xid" in line]


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def optional(call, *arguments):
    try:
        return call(*arguments)
    except pynvml.NVMLError as error:
        return str(error)


def words(value):
    return value.decode() if isinstance(value, bytes) else value


pynvml.nvmlInit()
GPU = pynvml.nvmlDeviceGetHandleByIndex(0)
with open(os.path.join(OUT, "machine.txt"), "w") as machine:
    for command in ("uname -a", "nvidia-smi -q", "nvidia-smi topo -m", "nvidia-smi nvlink -s", "ls -laR /dev/nvidia*",
                    "ls -la /proc/driver/nvidia /usr/local/nvidia /usr/local/nvidia/*", "ldconfig -p | grep -i nvidia",
                    "cat /proc/driver/nvidia/version", "lspci -nn -d 10de:", "dmesg | grep -i nvrm", "cat /proc/devices",
                    "df -h / /dev/shm", "mount | grep -i nvidia", "ls -la /sys/bus/pci/devices"):
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        machine.write(f"$ {command}\n{done.stdout}{done.stderr}\n")
subprocess.run(["nvcc", "-O2", "-o", FAULTS, os.path.join(HERE, "faults.cu")], check=True)


def live(gpu, memory):
    near("temperature, degrees", gpu["temperatureCelsius"], pynvml.nvmlDeviceGetTemperature(GPU, 0), 5)
    power = pynvml.nvmlDeviceGetPowerUsage(GPU)
    near("power, mW", gpu["powerMilliwatts"], power, power * 0.3)
    energy = pynvml.nvmlDeviceGetTotalEnergyConsumption(GPU)
    near("energy, mJ", gpu["energyMillijoules"], energy, 10 * max(power, 100000))
    near("memory used, bytes", gpu["memoryUsedBytes"], memory.used, 1 << 30)
    near("memory reserved, bytes", gpu["metrics"]["memory_reserved_bytes"], memory.reserved, 1 << 20)
    field = pynvml.nvmlDeviceGetFieldValues(GPU, [82])[0]
    near("memory temperature", gpu["metrics"].get("memory_temperature_celsius"), field.value.uiVal, 5)
    equal("PCIe replays", gpu["pcieReplays"], pynvml.nvmlDeviceGetPcieReplayCounter(GPU))
    for name, kind, counter in (("ecc_single_volatile", 0, 0), ("ecc_double_volatile", 1, 0),
                                ("ecc_single_aggregate", 0, 1), ("ecc_double_aggregate", 1, 1)):
        equal(name, gpu["metrics"].get(name), float(pynvml.nvmlDeviceGetTotalEccErrors(GPU, kind, counter)))
    rows = pynvml.nvmlDeviceGetRemappedRows(GPU)
    equal("remapped rows, correctable", gpu["metrics"].get("rows_remapped_correctable"), float(rows[0]))
    equal("remapped rows, uncorrectable", gpu["metrics"].get("rows_remapped_uncorrectable"), float(rows[1]))
    equal("remap pending, failed", (gpu["health"]["remapPending"], gpu["health"]["remapFailed"]), (rows[2] == 1, rows[3] == 1))


def healthy(gpu):
    health = gpu["health"]
    equal("PCIe generation", health.get("pcieGeneration"), optional(pynvml.nvmlDeviceGetCurrPcieLinkGeneration, GPU))
    equal("PCIe generation, most", health.get("pcieGenerationMax"), optional(pynvml.nvmlDeviceGetMaxPcieLinkGeneration, GPU))
    equal("PCIe width", health.get("pcieWidth"), optional(pynvml.nvmlDeviceGetCurrPcieLinkWidth, GPU))
    states = [optional(pynvml.nvmlDeviceGetNvLinkState, GPU, link) for link in range(18)]
    equal("NVLinks up", sum(link["count"] for link in gpu["links"]), states.count(1))
    try:
        pynvml.nvmlDeviceValidateInforom(GPU)
        equal("InfoROM", health.get("infoRomValid"), True)
    except pynvml.NVMLError as error:
        report(health.get("infoRomValid") in (None, False), "InfoROM", f"daemon {health.get('infoRomValid')}, driver {error}")


@section("What probe says of the idle GPU, against NVIDIA's bindings")
def probe():
    begun = time.monotonic()
    done = program("probe", "--json")
    FIGURES["probe_seconds"] = round(time.monotonic() - begun, 3)
    with open(os.path.join(OUT, "probe.json"), "w") as file:
        file.write(done.stdout + done.stderr)
    found = json.loads(done.stdout)
    equal("driver version", found["driver"], words(pynvml.nvmlSystemGetDriverVersion()))
    cuda = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    equal("CUDA version", found["cuda"], f"{cuda // 1000}.{cuda % 1000 // 10}")
    equal("number of GPUs", len(found["gpus"]), pynvml.nvmlDeviceGetCount())
    gpu = found["gpus"][0]
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(GPU)
    bus = words(pynvml.nvmlDeviceGetPciInfo(GPU).busId)
    memory = pynvml.nvmlDeviceGetMemoryInfo(GPU, version=pynvml.nvmlMemory_v2)
    equal("UUID", gpu["uuid"], words(pynvml.nvmlDeviceGetUUID(GPU)))
    equal("serial number", gpu["serial"], words(optional(pynvml.nvmlDeviceGetSerial, GPU)))
    equal("minor", gpu["minor"], pynvml.nvmlDeviceGetMinorNumber(GPU))
    equal("PCI address", gpu["pciBusId"].lower(), bus.lower())
    equal("model", gpu["model"], words(pynvml.nvmlDeviceGetName(GPU)))
    equal("compute capability", gpu["computeCapability"], f"{major}.{minor}")
    equal("VBIOS", gpu["vbios"], words(pynvml.nvmlDeviceGetVbiosVersion(GPU)))
    equal("memory", gpu["memoryBytes"], memory.total)
    equal("MIG", gpu["migEnabled"], optional(lambda: pynvml.nvmlDeviceGetMigMode(GPU)[0] == 1) is True)
    action = pynvml.nvmlDeviceGetFieldValues(GPU, [230])[0]
    expected = ["NONE", "GPU_RESET", "NODE_REBOOT", "DRAIN_P2P", "DRAIN_AND_RESET", "RECOVER_IMEX_DOMAIN"]
    equal("recovery action", gpu["recoveryAction"], expected[action.value.uiVal] if action.nvmlReturn == 0 else "absent")
    with open(f"/sys/bus/pci/devices/{bus.lower()[-12:]}/numa_node") as numa:
        node = int(numa.read())
    report(gpu.get("numaNode") == node or node < 0, "NUMA node", f"daemon {gpu.get('numaNode')}, sysfs {node}")
    live(gpu, memory)
    healthy(gpu)


@section("The daemon with a kubelet")
def start():
    global DAEMON, RECORDING
    RECORDING = subprocess.Popen([f"{PACKAGE}/bin/node-daemon", "record", f"{OUT}/recording.jsonl", "--for", "10m",
                                  "--every", "2s", "--anonymous"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    DAEMON = Daemon("default")
    at = DAEMON.kubelet.wait("Healthy")
    report(at is not None, "devices are offered", f"{len(DAEMON.kubelet.devices())} as {DAEMON.kubelet.resource}")
    FIGURES["start_to_list_seconds"] = round(at - DAEMON.begun, 3)
    done = program("doctor", extra=DAEMON.environment)
    with open(os.path.join(OUT, "doctor.txt"), "w") as file:
        file.write(done.stdout + done.stderr)


@section("Containers from the answers to Allocate")
def containers():
    device = next(iter(DAEMON.kubelet.devices()))
    times = []
    for _ in range(1000):
        begun = time.perf_counter()
        answer = DAEMON.kubelet.allocate(device)
        times.append((time.perf_counter() - begun) * 1e6)
    FIGURES["allocate_p50_us"] = round(statistics.median(times))
    spec_file = f"{DAEMON.root}/cdi/gpufleet.io-gpu.json"
    shutil.copy(spec_file, os.path.join(OUT, "cdi.json"))
    with open(spec_file) as file:
        contained("CDI", *container.of_spec(json.load(file), answer["cdi"]))
    daemon = Daemon("host-mounts", GPUFLEET_DEVICE_LIST_STRATEGY="host-mounts", GPUFLEET_HTTP_PORT=str(free_port()))
    daemon.kubelet.wait("Healthy")
    answer = daemon.kubelet.allocate(device)
    with open(os.path.join(OUT, "allocate-host-mounts.json"), "w") as file:
        json.dump(answer, file, indent=1)
    variables = {**answer["envs"], "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64"}
    contained("host-mounts", answer["mounts"], answer["devices"], variables)
    daemon.end()


def contained(name, mounts, devices, variables):
    missing = [outside for _, outside in mounts + devices if not os.path.exists(outside)]
    report(not missing, f"{name}: every path exists on the host", f"{len(mounts)} mounts, {len(devices)} devices {missing or ''}")
    for what, command, wanted in (("CUDA", "/usr/bin/faults add", "is right"), ("nvidia-smi", "nvidia-smi -L", "GPU 0")):
        root = container.root(tempfile.mkdtemp(dir=WORK), FAULTS)
        status, output = container.run(root, mounts, devices, variables, command)
        report(status == 0 and wanted in output, f"{name}: {what} runs in a container", output[:300])


@section("Under load")
def load():
    rest = DAEMON.cpu_seconds(), time.monotonic()
    time.sleep(15)
    FIGURES["cpu_at_rest_percent"] = round(100 * (DAEMON.cpu_seconds() - rest[0]) / (time.monotonic() - rest[1]), 2)
    running = subprocess.Popen([FAULTS, "load", "25"], stdout=subprocess.PIPE, text=True)
    running.stdout.readline()
    time.sleep(4)
    found = json.loads(program("probe", "--json").stdout)["gpus"][0]
    with open(os.path.join(OUT, "probe-load.json"), "w") as file:
        json.dump(found, file, indent=1)
    near("GPU utilization, percent", found["gpuUtilizationPercent"], pynvml.nvmlDeviceGetUtilizationRates(GPU).gpu, 10)
    power = pynvml.nvmlDeviceGetPowerUsage(GPU)
    near("power, mW", found["powerMilliwatts"], power, power * 0.2)
    near("SM clock, MHz", found["smClockMhz"], pynvml.nvmlDeviceGetClockInfo(GPU, pynvml.NVML_CLOCK_SM), 120)
    near("memory clock, MHz", found["memoryClockMhz"], pynvml.nvmlDeviceGetClockInfo(GPU, pynvml.NVML_CLOCK_MEM), 50)
    equal("clock event reasons", found["clockEventReasons"] & ~0x5, pynvml.nvmlDeviceGetCurrentClocksEventReasons(GPU) & ~0x5)
    theirs = [(p.pid, p.usedGpuMemory) for p in pynvml.nvmlDeviceGetComputeRunningProcesses(GPU)]
    ours = found["processes"]
    report(isinstance(ours, list) and str(running.pid) in json.dumps(ours), "process on the GPU", f"daemon {ours}, driver {theirs}")
    report(until(lambda: (metric("DCGM_FI_PROF_SM_ACTIVE") or 0) > 0.5, 13), "GPM: the SMs are active",
           f"{metric('DCGM_FI_PROF_SM_ACTIVE')}, FP32 pipes {metric('DCGM_FI_PROF_PIPE_FP32_ACTIVE')}")
    report(until(lambda: (metric("gpufleet_gpu_unallocated_processes") or 0) >= 1, 13), "use without an allocation is reported")
    running.wait()
    text = page("/metrics")
    for call in ("scan", "sample"):
        name = 'gpufleet_daemon_device_call_duration_seconds'
        total = float(re.search(rf'^{name}_sum{{call="{call}"}} (\S+)$', text, re.M)[1])
        count = float(re.search(rf'^{name}_count{{call="{call}"}} (\S+)$', text, re.M)[1])
        FIGURES[f"{call}_ms"] = round(1000 * total / max(count, 1), 2)
    with open(os.path.join(OUT, "metrics.txt"), "w") as file:
        file.write(text)


@section("XIDs of programs, as the node policy has them")
def xids():
    for program_name in ("illegal", "misaligned", "trap"):
        before, begun = len(kernel_xids()), time.monotonic()
        done = subprocess.run([FAULTS, program_name], capture_output=True, text=True)
        events = EVENTS.after(begun)
        lines = kernel_xids()[before:]
        codes = sorted({code for _, code in events} | {int(x) for l in lines for x in re.findall(r"Xid \([^)]*\): (\d+)", l)})
        print(f"      {program_name}: {done.stdout.strip()}; NVML {events}; kernel {lines}")
        report(bool(codes), f"{program_name}: the driver reports an XID", f"{codes}")
        for code in codes:
            known = until(lambda: f'fault="xid-{code}"' in page("/metrics"), 10)
            report(known, f"{program_name}: the daemon observed XID {code}")
    equal("a program's XID withdraws nothing", set(DAEMON.kubelet.devices().values()), {"Healthy"})


@section("Hold")
def hold():
    report(bool(DAEMON.descriptors()), "the GPU is open before", f"{len(DAEMON.descriptors())} descriptors")
    begun = time.monotonic()
    with open(f"{DAEMON.root}/run/hold.next", "w") as file:
        file.write("reason: gpu check\ndeadline: 2m\n")
    os.rename(f"{DAEMON.root}/run/hold.next", f"{DAEMON.root}/run/hold")
    released = until(lambda: os.path.exists(f"{DAEMON.root}/run/released"))
    FIGURES["hold_to_released_seconds"] = round(time.monotonic() - begun, 3)
    report(released and not DAEMON.descriptors(), "released, and no descriptor is open", f"{DAEMON.descriptors()}")
    equal("every device is unhealthy", set(DAEMON.kubelet.devices().values()), {"Unhealthy"})
    begun = time.monotonic()
    os.remove(f"{DAEMON.root}/run/hold")
    back = DAEMON.kubelet.wait("Healthy", after=begun)
    report(back is not None, "offered again after the hold", f"{round(back - begun, 3) if back else None} s")


@section("Memory and end")
def end():
    FIGURES["memory_mib"] = {key: round(value, 1) for key, value in DAEMON.memory_mib().items()}
    sockets = [name for name in os.listdir(f"{DAEMON.root}/kubelet") if name.startswith("gpufleet")]
    FIGURES["sigterm_to_exit_seconds"] = round(DAEMON.end(), 3)
    equal("exit status", DAEMON.process.returncode, 0)
    left = [name for name in os.listdir(f"{DAEMON.root}/kubelet") if name.startswith("gpufleet")]
    report(bool(sockets) and not left, "the socket is removed", f"{sockets}, left {left}")


@section("An XID that withdraws: from the driver's event to the kubelet's list")
def withdrawal():
    daemon = Daemon("enforced", DP_ENABLE_HEALTHCHECKS="31", GPUFLEET_RECOVERY_DWELL="1s")
    ready = daemon.kubelet.wait("Healthy")
    latencies, lines, returns = [], [], []
    for _ in range(5):
        before, begun = len(kernel_xids()), time.monotonic()
        subprocess.run([FAULTS, "illegal"], capture_output=True)
        events = EVENTS.after(begun)
        listed = daemon.kubelet.wait("Unhealthy", after=begun, seconds=10)
        if not events or listed is None:
            report(False, "withdrawn", f"NVML {events}, list {listed}")
            break
        latencies.append((listed - events[0][0]) * 1000)
        line = kernel_xids()[before]
        lines.append((listed - float(line[1 : line.index("]")])) * 1000)
        back = daemon.kubelet.wait("Healthy", after=listed, seconds=60)
        if back is None:
            report(False, "offered again")
            break
        returns.append(back - listed)
    FIGURES["nvml_event_to_list_ms"] = [round(x, 2) for x in latencies]
    FIGURES["kernel_line_to_list_ms"] = [round(x, 2) for x in lines]
    FIGURES["offered_again_seconds"] = [round(x, 1) for x in returns]
    report(ready is not None and len(returns) == 5, "five times withdrawn and offered again", f"{FIGURES['kernel_line_to_list_ms']} ms after the kernel's line")
    daemon.end()
    shutil.make_archive(os.path.join(OUT, "state"), "gztar", f"{daemon.root}/state")


EVENTS = NvmlEvents(GPU)
run_parts()
RECORDING.send_signal(signal.SIGINT)
RECORDING.wait(15)
shutil.rmtree(WORK, ignore_errors=True)
print("\n" + json.dumps(FIGURES, indent=1))
with open(os.path.join(OUT, "figures.json"), "w") as figures:
    json.dump(FIGURES, figures, indent=1)
print(f"{RESULTS.count(True)} passed, {RESULTS.count(False)} failed")
sys.exit(RESULTS.count(False) > 0)
