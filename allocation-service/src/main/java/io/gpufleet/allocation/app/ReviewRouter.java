package io.gpufleet.allocation.app;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Answers a review here, where this replica decides, else by way of the one that does. */
public final class ReviewRouter implements ReviewDoor {
    private final ReviewDoor here;
    private final BooleanSupplier decides;
    private final Supplier<String> activeAddress;
    private final BiFunction<String, byte[], CompletionStage<byte[]>> forward;

    /** {@code forward} asks the replica at an address. */
    public ReviewRouter(
            ReviewDoor here,
            BooleanSupplier decides,
            Supplier<String> activeAddress,
            BiFunction<String, byte[], CompletionStage<byte[]>> forward) {
        this.here = here;
        this.decides = decides;
        this.activeAddress = activeAddress;
        this.forward = forward;
    }

    @Override
    public CompletionStage<byte[]> answer(byte[] review) {
        if (decides.getAsBoolean()) {
            return here.answer(review);
        }
        String address = activeAddress.get();
        return address.isEmpty()
                ? CompletableFuture.failedStage(
                        new UnavailableException("no replica of allocation-service decides now; ask again in seconds"))
                : forward.apply(address, review);
    }
}
