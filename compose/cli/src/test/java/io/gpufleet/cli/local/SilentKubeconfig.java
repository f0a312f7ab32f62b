package io.gpufleet.cli.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A kubeconfig of an API server on this machine that answers nobody. */
final class SilentKubeconfig {
    private SilentKubeconfig() {}

    static Path write(Path directory, int port) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), """
            apiVersion: v1
            kind: Config
            clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
            users: [{name: u, user: {token: t}}]
            contexts: [{name: c, context: {cluster: c, user: u}}]
            current-context: c
            """.formatted(port));
    }
}
