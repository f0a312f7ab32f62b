package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Who computes on the GPUs: measured a process, so that it splits a shared GPU by pod as nothing else does. */
public final class ProcessPage {
    private static final String MEMORY = "gpufleet_gpu_pod_memory_used_bytes";
    private static final String UNHELD = "gpufleet_gpu_unheld_processes";

    private final TextPage page = new TextPage(4096);
    private final Readout readout;
    private final Map<String, Vitals> vitals = new HashMap<>();
    private final Map<String, Holder> pods = new HashMap<>();

    private ProcessPage(Readout readout, long nanos) {
        this.readout = readout;
        if (!DcgmPage.tooOld(readout, nanos)) {
            readout.vitals().forEach(its -> vitals.put(its.gpuUuid(), its));
        }
        readout.holdings().holders().forEach(holder -> pods.putIfAbsent(holder.podUid(), holder));
    }

    /** Renders the page; a GPU whose processes could not be read has no sample. */
    public static String of(Readout readout, long nanos) {
        var page = new ProcessPage(readout, nanos);
        if (readout.devices().gpus().isEmpty()) {
            return "";
        }
        page.memory();
        page.unheld();
        return page.page.text();
    }

    private Optional<List<ComputeProcess>> processes(Gpu gpu) {
        return Optional.ofNullable(vitals.get(gpu.uuid()))
                .flatMap(its -> its.processes().asOptional());
    }

    private static Labels labels(Gpu gpu) {
        return Labels.none().with("gpu", Integer.toString(gpu.index())).with("UUID", gpu.uuid());
    }

    private void memory() {
        page.family(MEMORY, "gauge", "Memory of the device that the pod's processes have together.");
        for (KnownGpu known : readout.devices().gpus()) {
            var byPod = new TreeMap<String, Reading<Long>>();
            for (ComputeProcess process : processes(known.gpu()).orElse(List.of())) {
                if (process.owner() instanceof ProcessOwner.Pod(String uid)) {
                    byPod.merge(labels(known.gpu(), process.deviceUuid(), uid), process.usedBytes(), ProcessPage::sum);
                }
            }
            byPod.forEach((labels, bytes) -> bytes.asOptional().ifPresent(sum -> page.sample(MEMORY, labels, sum)));
        }
    }

    /** Part of a sum is none. */
    private static Reading<Long> sum(Reading<Long> a, Reading<Long> b) {
        return a instanceof Known<Long>(Long first) ? b.map(second -> first + second) : a;
    }

    private String labels(Gpu gpu, String deviceUuid, String podUid) {
        Labels labels = labels(gpu);
        for (MigInstance instance : gpu.instances()) {
            if (instance.uuid().equals(deviceUuid)) {
                labels.with("GPU_I_PROFILE", instance.profile())
                        .with("GPU_I_ID", Integer.toString(instance.gpuInstance()));
            }
        }
        Optional<Holder> pod = Optional.ofNullable(pods.get(podUid));
        return labels.with("namespace", pod.map(Holder::namespace).orElse(""))
                .with("pod", pod.map(Holder::pod).orElse(""))
                .with("pod_uid", podUid)
                .text();
    }

    private void unheld() {
        page.family(UNHELD, "gauge", "Processes on the GPU whose pod does not hold it, or that belong to no pod.");
        for (KnownGpu known : readout.devices().gpus()) {
            Gpu gpu = known.gpu();
            var parts = readout.devices().partsOf(gpu.uuid());
            processes(gpu)
                    .ifPresent(_ -> page.sample(
                            UNHELD,
                            labels(gpu).text(),
                            readout.unheld().stream()
                                    .filter(use -> parts.contains(use.deviceUuid()))
                                    .mapToInt(use -> use.processes())
                                    .sum()));
        }
    }
}
