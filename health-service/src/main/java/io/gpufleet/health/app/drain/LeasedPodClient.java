package io.gpufleet.health.app.drain;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.drain.PodOnNode;
import java.time.Instant;
import java.util.function.Supplier;

/** Makes each call only while the lease is held; the end of the term gives up what hangs. */
final class LeasedPodClient implements PodClient {
    private final PodClient pods;
    private final CurrentLease lease;

    LeasedPodClient(PodClient pods, CurrentLease lease) {
        this.pods = pods;
        this.lease = lease;
    }

    @Override
    public PodList onNode(String node) {
        return lease.call(() -> pods.onNode(node), () -> new PodList.Unlisted("the lease is not held"));
    }

    @Override
    public PodResponse giveNotice(PodOnNode pod, Instant evictionAt, String message) {
        return whileHeld(() -> pods.giveNotice(pod, evictionAt, message));
    }

    @Override
    public PodResponse withdrawNotice(PodOnNode pod) {
        return whileHeld(() -> pods.withdrawNotice(pod));
    }

    @Override
    public PodResponse evict(PodOnNode pod) {
        return whileHeld(() -> pods.evict(pod));
    }

    @Override
    public PodResponse delete(PodOnNode pod) {
        return whileHeld(() -> pods.delete(pod));
    }

    private PodResponse whileHeld(Supplier<PodResponse> call) {
        return lease.call(call, PodResponse.LeaseEnded::new);
    }
}
