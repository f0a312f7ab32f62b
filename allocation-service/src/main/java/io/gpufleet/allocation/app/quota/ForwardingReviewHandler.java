package io.gpufleet.allocation.app.quota;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Answers a review on the quota leader; a standby forwards it to the active replica. */
public final class ForwardingReviewHandler implements AdmissionReviewHandler {
    private final AdmissionReviewHandler local;
    private final BooleanSupplier isLeader;
    private final Supplier<String> activeAddress;
    private final Forward forward;

    /** Sends a review that was received at a monotonic time of this process to the replica at an address. */
    @FunctionalInterface
    public interface Forward {
        /** The answer of that replica; fails with {@link UnavailableException} without one. */
        CompletionStage<byte[]> forward(String address, byte[] review, long receivedNanos);
    }

    /** {@code isLeader} and {@code activeAddress} are asked for each review. */
    public ForwardingReviewHandler(
            AdmissionReviewHandler local, BooleanSupplier isLeader, Supplier<String> activeAddress, Forward forward) {
        this.local = local;
        this.isLeader = isLeader;
        this.activeAddress = activeAddress;
        this.forward = forward;
    }

    @Override
    public CompletionStage<byte[]> handle(byte[] review, long receivedNanos) {
        if (isLeader.getAsBoolean()) {
            return local.handle(review, receivedNanos);
        }
        String address = activeAddress.get();
        return address.isEmpty()
                ? CompletableFuture.failedStage(
                        new UnavailableException("allocation-service has no quota leader now; retry in a few seconds"))
                : forward.forward(address, review, receivedNanos);
    }
}
