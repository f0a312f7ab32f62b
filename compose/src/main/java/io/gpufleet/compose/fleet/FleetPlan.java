package io.gpufleet.compose.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Everything that a fleet will run, settled before the first process starts.
 *
 * @param options how large it is
 * @param kafkaPort port of the broker
 * @param parts every process but the broker, in the order of starting
 * @param nodes names of the simulated nodes
 */
public record FleetPlan(FleetOptions options, int kafkaPort, List<Part> parts, List<String> nodes) {
    /** Name of the cluster in every event. */
    public static final String CLUSTER = "local";

    /** Where the parts keep what they need in the cluster; not the namespace of an installation. */
    public static final String NAMESPACE = "gpufleet-local";

    private static final String LOOPBACK = "127.0.0.1";
    private static final int KAFKA = 19092;
    private static final int KUBERNETES = 16443;
    private static final int KUBELETS = 18090;
    private static final int SERVICE_HTTP = 18080;
    private static final int SERVICE_GRPC = 19080;
    private static final int WEBHOOK = 18443;
    private static final int DAEMON_HTTP = 19400;

    /** Keeps its own copies. */
    public FleetPlan {
        parts = List.copyOf(parts);
        nodes = List.copyOf(nodes);
    }

    /** What clients take as {@code bootstrap.servers}. */
    public String bootstrap() {
        return LOOPBACK + ":" + kafkaPort;
    }

    /** Every process of one program. */
    public List<Part> of(Program program) {
        return parts.stream().filter(part -> part.program() == program).toList();
    }

    /**
     * Plans a fleet.
     *
     * @param kubeconfig file by which the parts reach the API
     * @param webhookHost address at which the API server reaches the webhook
     */
    public static FleetPlan of(
            FleetOptions options, StateDirectory state, String kubeconfig, String webhookHost, Ports ports) {
        int kafka = ports.take("kafka", KAFKA);
        var planner = new Planner(options, state, kubeconfig, webhookHost, LOOPBACK + ":" + kafka, ports);
        return new FleetPlan(options, kafka, planner.parts(), planner.nodes());
    }

    /** The values that all parts share. */
    private record Planner(
            FleetOptions options,
            StateDirectory state,
            String kubeconfig,
            String webhookHost,
            String bootstrap,
            Ports ports) {
        List<String> nodes() {
            return IntStream.rangeClosed(1, options.nodes())
                    .mapToObj(i -> "node-" + i)
                    .toList();
        }

        List<Part> parts() {
            var parts = new ArrayList<Part>();
            if (options.standIn()) {
                parts.add(kubeApi());
            }
            if (options.nodes() > 0) {
                parts.add(kubelets());
            }
            for (int replica = 0; replica < options.replicas(); replica++) {
                parts.add(service(Program.INVENTORY, "inventory-service", 0, replica));
                parts.add(service(Program.HEALTH, "health-service", 1, replica));
                parts.add(service(Program.ALLOCATION, "allocation-service", 2, replica));
            }
            List<String> nodes = nodes();
            for (int i = 0; i < nodes.size(); i++) {
                parts.add(daemon(nodes.get(i), i));
            }
            return parts;
        }

        private Part kubeApi() {
            int http = ports.take("kubernetes", KUBERNETES);
            return new Part(
                    "kubernetes",
                    Program.KUBE_API,
                    Map.of(
                            "GPUFLEET_KUBE_API_HOST", LOOPBACK,
                            "GPUFLEET_KUBE_API_PORT", Integer.toString(http),
                            "GPUFLEET_STATE_DIR", state.root().toString()),
                    Map.of("http", http));
        }

        private Part kubelets() {
            int http = ports.take("kubelets", KUBELETS);
            String specs = nodes().stream()
                    .map(node -> node + "=" + state.sockets().resolve(node))
                    .collect(Collectors.joining(","));
            return new Part(
                    "kubelets",
                    Program.KUBELETS,
                    Map.of(
                            "GPUFLEET_KUBELETS", specs,
                            "GPUFLEET_HTTP_HOST", LOOPBACK,
                            "GPUFLEET_HTTP_PORT", Integer.toString(http),
                            "KUBECONFIG", kubeconfig),
                    Map.of("http", http));
        }

        private Part service(Program program, String name, int place, int replica) {
            String instance = name + "-" + replica;
            int offset = replica * 3 + place;
            int http = ports.take(instance + " (http)", SERVICE_HTTP + offset);
            int grpc = ports.take(instance + " (grpc)", SERVICE_GRPC + offset);
            Map<String, String> environment = bus();
            environment.put("GPUFLEET_INSTANCE", instance);
            environment.put("GPUFLEET_HTTP_PORT", Integer.toString(http));
            environment.put("GPUFLEET_GRPC_PORT", Integer.toString(grpc));
            environment.put("KUBECONFIG", kubeconfig);
            var numbers = new TreeMap<>(Map.of("http", http, "grpc", grpc));
            if (program == Program.ALLOCATION) {
                int webhook = ports.take(instance + " (webhook)", WEBHOOK + replica);
                environment.put("GPUFLEET_WEBHOOK_HOST", webhookHost);
                environment.put("GPUFLEET_WEBHOOK_PORT", Integer.toString(webhook));
                environment.put("GPUFLEET_WEBHOOK_URL", "https://" + webhookHost + ":" + webhook + "/admit");
                environment.put("GPUFLEET_NAMESPACE", NAMESPACE);
                numbers.put("webhook", webhook);
            }
            return new Part(instance, program, environment, numbers);
        }

        private Part daemon(String node, int index) {
            int http = ports.take(node, DAEMON_HTTP + index);
            Map<String, String> environment = bus();
            environment.put("GPUFLEET_NODE", node);
            environment.put("GPUFLEET_DEVICES", "simulated:" + options.gpus() + "x" + options.model());
            environment.put("GPUFLEET_HTTP_PORT", Integer.toString(http));
            environment.put(
                    "GPUFLEET_DEVICE_PLUGIN_DIR",
                    state.sockets().resolve(node).resolve("device-plugins").toString());
            environment.put(
                    "GPUFLEET_POD_RESOURCES_SOCKET",
                    state.sockets()
                            .resolve(node)
                            .resolve("pod-resources")
                            .resolve("kubelet.sock")
                            .toString());
            environment.put(
                    "GPUFLEET_STATE_DIR", state.node(node).resolve("state").toString());
            environment.put("GPUFLEET_RUN_DIR", state.node(node).resolve("run").toString());
            environment.put(
                    "GPUFLEET_SIMULATION_DIR",
                    state.node(node).resolve("faults").toString());
            environment.put("GPUFLEET_RECOVERY_DWELL", options.recoveryDwell());
            return new Part(node, Program.NODE_DAEMON, environment, Map.of("http", http));
        }

        private Map<String, String> bus() {
            return new TreeMap<>(Map.of(
                    "GPUFLEET_CLUSTER", CLUSTER,
                    "GPUFLEET_KAFKA", bootstrap,
                    "GPUFLEET_HTTP_HOST", LOOPBACK));
        }
    }
}
