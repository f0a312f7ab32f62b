package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Contract on the API server of GPUFLEET_TEST_KUBECONFIG, with the rights of the manifests only. */
class PodClientClusterIT implements PodClientContract {
    private static final List<String> RIGHTS =
            List.of("k8s/base/services/health-service/rbac.yaml", "k8s/components/drain/rbac.yaml");

    private static final String USER = "gpufleet-it-drain";
    private static final List<HasMetadata> GRANTED = new ArrayList<>();

    private static KubernetesClient client;
    private static KubernetesClient service;

    @BeforeAll
    static void open() throws IOException {
        client = new KubernetesClientBuilder().withConfig(config()).build();
        for (String file : RIGHTS) {
            try (InputStream yaml = Files.newInputStream(Repository.module(file))) {
                client.load(yaml).items().forEach(PodClientClusterIT::grant);
            }
        }
        Config limited = config();
        limited.setImpersonateUsername(USER);
        service = new KubernetesClientBuilder().withConfig(limited).build();
    }

    /** The rules of the manifests under names of this test: somebody else may have installed them. */
    private static void grant(HasMetadata object) {
        if (object instanceof ClusterRole role) {
            role.getMetadata().setName(NAME + "-" + role.getMetadata().getName());
            GRANTED.add(role);
            var binding = new ClusterRoleBindingBuilder()
                    .withNewMetadata()
                    .withName(role.getMetadata().getName())
                    .endMetadata()
                    .withNewRoleRef(
                            "rbac.authorization.k8s.io",
                            "ClusterRole",
                            role.getMetadata().getName())
                    .addNewSubject("rbac.authorization.k8s.io", "User", USER, null)
                    .build();
            GRANTED.add(binding);
            client.resource(role).unlock().createOr(edit -> edit.update());
            client.resource(binding).unlock().createOr(edit -> edit.update());
        }
    }

    private static Config config() throws IOException {
        Config config = Config.fromKubeconfig(Files.readString(Path.of(System.getenv("GPUFLEET_TEST_KUBECONFIG"))));
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        config.setRequestRetryBackoffLimit(0);
        return config;
    }

    @AfterAll
    static void close() {
        GRANTED.forEach(object -> client.resource(object).delete());
        service.close();
        client.close();
    }

    @Override
    public KubernetesClient client() {
        return client;
    }

    @Override
    public KubernetesClient service() {
        return service;
    }
}
