package io.gpufleet.allocation.app.quota;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Answers a review on the quota leader; a standby forwards it to the active replica. */
public final class AdmissionReviewRouter implements AdmissionReviewHandler {
    private final AdmissionReviewHandler local;
    private final BooleanSupplier isLeader;
    private final Supplier<String> activeAddress;
    private final BiFunction<String, byte[], CompletionStage<byte[]>> forward;

    /** {@code forward} sends a review to the replica at an address. */
    public AdmissionReviewRouter(
            AdmissionReviewHandler local,
            BooleanSupplier isLeader,
            Supplier<String> activeAddress,
            BiFunction<String, byte[], CompletionStage<byte[]>> forward) {
        this.local = local;
        this.isLeader = isLeader;
        this.activeAddress = activeAddress;
        this.forward = forward;
    }

    @Override
    public CompletionStage<byte[]> handle(byte[] review) {
        if (isLeader.getAsBoolean()) {
            return local.handle(review);
        }
        String address = activeAddress.get();
        return address.isEmpty()
                ? CompletableFuture.failedStage(
                        new UnavailableException("allocation-service has no quota leader now; retry in a few seconds"))
                : forward.apply(address, review);
    }
}
