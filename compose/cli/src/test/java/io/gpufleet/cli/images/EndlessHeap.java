package io.gpufleet.cli.images;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A program of which one thread takes heap without end, while another waits. */
final class EndlessHeap {
    private EndlessHeap() {}

    public static void main(String[] arguments) throws InterruptedException {
        Thread.ofPlatform().start(() -> {
            List<byte[]> taken = new ArrayList<>();
            while (!taken.isEmpty() || arguments.length == 0) {
                taken.add(new byte[1 << 16]);
            }
        });
        new CountDownLatch(1).await();
    }
}
