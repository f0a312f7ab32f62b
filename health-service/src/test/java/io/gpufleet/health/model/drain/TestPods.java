package io.gpufleet.health.model.drain;

import io.gpufleet.health.model.drain.PodOnNode.Kind;
import io.gpufleet.health.model.drain.PodOnNode.Phase;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import java.time.Instant;
import java.util.List;

/** Pods for tests of drains, in namespace {@code team}. */
public final class TestPods {
    private TestPods() {}

    /** Name of a pod of that namespace. */
    public static PodName name(String name) {
        return new PodName("team", name, "uid-" + name);
    }

    /** A pod that requests a GPU and belongs to no job. */
    public static PodOnNode gpuPod(String name) {
        return new PodOnNode(name(name), "", Kind.OTHER, Phase.LIVE, true, null);
    }

    /** A pod that requests no GPU. */
    public static PodOnNode cpuPod(String name) {
        return new PodOnNode(name(name), "", Kind.OTHER, Phase.LIVE, false, null);
    }

    /** A pod of a job. */
    public static PodOnNode ofJob(String name, String job) {
        return new PodOnNode(name(name), "team/Job/" + job, Kind.OTHER, Phase.LIVE, true, null);
    }

    /** The pod after it got its notice. */
    public static PodOnNode noticed(PodOnNode pod, Instant evictionAt) {
        return new PodOnNode(pod.name(), pod.job(), pod.kind(), pod.phase(), pod.requestsGpu(), evictionAt);
    }

    /** The pod of this kind. */
    public static PodOnNode of(PodOnNode pod, Kind kind) {
        return new PodOnNode(pod.name(), pod.job(), kind, pod.phase(), pod.requestsGpu(), pod.evictionAt());
    }

    /** The pod in this phase. */
    public static PodOnNode of(PodOnNode pod, Phase phase) {
        return new PodOnNode(pod.name(), pod.job(), pod.kind(), phase, pod.requestsGpu(), pod.evictionAt());
    }

    /** One pod holds one device. */
    public static Holdings held(String pod, String device) {
        return new Holdings(true, List.of(new Holdings.Holder(name(pod), List.of(device))));
    }
}
