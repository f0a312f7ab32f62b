package io.gpufleet.testbed.fakeapiserver;

import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.lifecycle.Program;
import java.nio.file.Path;
import java.util.List;

/** The fake API server as a program. */
public final class FakeApiServerMain {
    private static final List<Setting> SETTINGS = List.of(
            Setting.optional("GPUFLEET_FAKE_APISERVER_HOST", "127.0.0.1", "address to listen on"),
            Setting.required("GPUFLEET_FAKE_APISERVER_PORT", "port to listen on; 0 takes a free one"),
            Setting.optional("GPUFLEET_STATE_DIR", "", "directory in which the file kubeconfig is written"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "least level that is logged"));

    private FakeApiServerMain() {}

    /** Runs until SIGTERM; the first line of output is the address. */
    public static void main(String[] arguments) {
        Program.run("fake-apiserver", arguments, System.getenv(), SETTINGS, (environment, shutdown) -> {
            FakeApiServer api = shutdown.add(
                    "api",
                    FakeApiServer.start(
                            environment.text("GPUFLEET_FAKE_APISERVER_HOST"),
                            environment.integer("GPUFLEET_FAKE_APISERVER_PORT", 0, 65535)));
            String directory = environment.text("GPUFLEET_STATE_DIR");
            if (!directory.isEmpty()) {
                api.kubeconfig(Path.of(directory).resolve("kubeconfig"));
            }
            System.out.println(api.url());
        });
    }
}
