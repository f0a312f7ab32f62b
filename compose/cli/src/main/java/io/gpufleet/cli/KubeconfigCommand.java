package io.gpufleet.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Prints the path of the kubeconfig. */
@Command(
        name = "kubeconfig",
        description = "Path of the kubeconfig: KUBECONFIG=$(./gpufleet kubeconfig) kubectl get nodes.",
        mixinStandardHelpOptions = true)
final class KubeconfigCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Override
    public void run() {
        System.out.println(parent.runningFleet().kubernetes().kubeconfig());
    }
}
