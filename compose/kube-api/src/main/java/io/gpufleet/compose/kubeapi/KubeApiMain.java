package io.gpufleet.compose.kubeapi;

import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.lifecycle.Program;
import java.nio.file.Path;
import java.util.List;

/** The stand-in API as a process of its own. */
public final class KubeApiMain {
    private static final List<Setting> SETTINGS = List.of(
            Setting.optional("GPUFLEET_KUBE_API_HOST", "127.0.0.1", "address to listen on"),
            Setting.required("GPUFLEET_KUBE_API_PORT", "port to listen on; 0 takes a free one"),
            Setting.optional("GPUFLEET_STATE_DIR", "", "folder that gets the file kubeconfig"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "least level that is logged"));

    private KubeApiMain() {}

    /** Runs until SIGTERM; the first line of output is the address. */
    public static void main(String[] arguments) {
        Program.run("kube-api", arguments, System.getenv(), SETTINGS, (environment, shutdown) -> {
            KubeApi api = shutdown.add(
                    "api",
                    KubeApi.start(
                            environment.text("GPUFLEET_KUBE_API_HOST"),
                            environment.integer("GPUFLEET_KUBE_API_PORT", 0, 65535)));
            String folder = environment.text("GPUFLEET_STATE_DIR");
            if (!folder.isEmpty()) {
                api.kubeconfig(Path.of(folder).resolve("kubeconfig"));
            }
            System.out.println(api.url());
        });
    }
}
