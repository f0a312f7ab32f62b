package io.gpufleet.testbed.kafka;

/** Chooses the port that is its argument, says so, and keeps it until it is killed. */
final class PortChooserMain {
    private PortChooserMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println(FreePort.choose(Integer.parseInt(arguments[0])) ? "chosen" : "taken");
        Thread.currentThread().join();
    }
}
