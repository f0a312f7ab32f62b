package io.gpufleet.kit.lifecycle;

import io.gpufleet.kit.config.Setting;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.NullMarked;

/** A minimal program, started as a process by {@link ProgramIT}. */
@NullMarked
final class SampleMain {
    private SampleMain() {}

    public static void main(String[] arguments) {
        Program.run(
                "sample",
                arguments,
                System.getenv(),
                List.of(
                        Setting.required("GPUFLEET_CLUSTER", "name of the cluster"),
                        Setting.optional("GPUFLEET_MOOD", "well", "well, broken, failing, stuck, slow or late")),
                (environment, shutdown) -> {
                    var end = new CountDownLatch(1);
                    shutdown.add("sample", () -> {
                        System.out.println("closed");
                        end.countDown();
                    });
                    if (environment.text("GPUFLEET_MOOD").equals("stuck")) {
                        shutdown.add("stuck part", () -> new CountDownLatch(1).await());
                    }
                    if (environment.text("GPUFLEET_MOOD").equals("broken")) {
                        throw new IllegalStateException("on purpose");
                    }
                    if (environment.text("GPUFLEET_MOOD").equals("failing")) {
                        Program.fail("sample", "the mood is over");
                    }
                    String mood = environment.text("GPUFLEET_MOOD");
                    if (mood.equals("slow") || mood.equals("late")) {
                        startWithoutEnd(mood.equals("late"), shutdown);
                    }
                    Thread.ofPlatform().start(() -> {
                        System.out.println("runs");
                        try {
                            end.await();
                        } catch (InterruptedException interrupted) {
                            Thread.currentThread().interrupt();
                        }
                    });
                });
    }

    /** A start that waits; one that is late opens another part when it is told to end. */
    private static void startWithoutEnd(boolean late, Shutdown shutdown) throws InterruptedException {
        System.out.println("starting");
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException told) {
            if (!late) {
                throw told;
            }
            shutdown.add("late part", () -> System.out.println("closed late part"));
        }
    }
}
