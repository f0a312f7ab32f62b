package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.holders.Holder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Metrics of the processes on the GPUs: the only ones that split a shared GPU by pod. */
public final class ProcessMetricsPage {
    private static final String MEMORY = "gpufleet_gpu_pod_memory_used_bytes";
    private static final String UNALLOCATED = "gpufleet_gpu_unallocated_processes";

    private final PrometheusTextWriter writer = new PrometheusTextWriter(4096);
    private final NodeSnapshot snapshot;
    private final Map<String, GpuSample> samples = new HashMap<>();
    private final Map<String, Holder> holdersByPod = new HashMap<>();

    private ProcessMetricsPage(NodeSnapshot snapshot, long nanos) {
        this.snapshot = snapshot;
        if (!DcgmMetricsPage.isStale(snapshot, nanos)) {
            snapshot.samples().forEach(its -> samples.put(its.gpuUuid(), its));
        }
        snapshot.holdings().holders().forEach(holder -> holdersByPod.putIfAbsent(holder.podUid(), holder));
    }

    /** Renders the page; a GPU without readable processes has no sample. */
    public static String render(NodeSnapshot snapshot, long nanos) {
        var page = new ProcessMetricsPage(snapshot, nanos);
        if (snapshot.devices().gpus().isEmpty()) {
            return "";
        }
        page.memory();
        page.unallocated();
        return page.writer.text();
    }

    private Optional<List<ComputeProcess>> processes(Gpu gpu) {
        return Optional.ofNullable(samples.get(gpu.uuid()))
                .flatMap(its -> its.processes().asOptional());
    }

    private static MetricLabels labels(Gpu gpu) {
        return MetricLabels.none().with("gpu", Integer.toString(gpu.index())).with("UUID", gpu.uuid());
    }

    private void memory() {
        writer.family(MEMORY, "gauge", "Device memory used by the pod's processes.");
        for (KnownGpu known : snapshot.devices().gpus()) {
            var byPod = new TreeMap<String, Reading<Long>>();
            for (ComputeProcess process : processes(known.gpu()).orElse(List.of())) {
                if (process.owner() instanceof ProcessOwner.Pod(String uid)) {
                    byPod.merge(
                            labels(known.gpu(), process.deviceUuid(), uid),
                            process.usedBytes(),
                            ProcessMetricsPage::sum);
                }
            }
            byPod.forEach((labels, bytes) -> bytes.asOptional().ifPresent(sum -> writer.sample(MEMORY, labels, sum)));
        }
    }

    /** Adds two readings; unavailable if one of them is. */
    private static Reading<Long> sum(Reading<Long> a, Reading<Long> b) {
        return a instanceof Known<Long>(Long first) ? b.map(second -> first + second) : a;
    }

    private String labels(Gpu gpu, String deviceUuid, String podUid) {
        MetricLabels labels = labels(gpu);
        for (MigInstance instance : gpu.instances()) {
            if (instance.uuid().equals(deviceUuid)) {
                labels.with("GPU_I_PROFILE", instance.profile())
                        .with("GPU_I_ID", Integer.toString(instance.gpuInstance()));
            }
        }
        Optional<Holder> pod = Optional.ofNullable(holdersByPod.get(podUid));
        return labels.with("namespace", pod.map(Holder::namespace).orElse(""))
                .with("pod", pod.map(Holder::pod).orElse(""))
                .with("pod_uid", podUid)
                .text();
    }

    private void unallocated() {
        writer.family(UNALLOCATED, "gauge", "Processes on the GPU without an allocation of it.");
        for (KnownGpu known : snapshot.devices().gpus()) {
            Gpu gpu = known.gpu();
            var deviceUuids = snapshot.devices().deviceUuids(gpu.uuid());
            processes(gpu)
                    .ifPresent(_ -> writer.sample(
                            UNALLOCATED,
                            labels(gpu).text(),
                            snapshot.unallocated().stream()
                                    .filter(use -> deviceUuids.contains(use.deviceUuid()))
                                    .mapToInt(use -> use.processes())
                                    .sum()));
        }
    }
}
