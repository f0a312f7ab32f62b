package io.gpufleet.cli.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The processes of a fleet with names, ports and settings, planned before the first one starts.
 *
 * @param options number of nodes, GPUs and replicas
 * @param kafkaPort port of the broker
 * @param processes every process but the broker, in start order
 * @param nodes names of the simulated nodes
 */
public record FleetPlan(FleetOptions options, int kafkaPort, List<PlannedProcess> processes, List<String> nodes) {
    /** Name of the cluster in every event. */
    public static final String CLUSTER = "local";

    /** Namespace of the fleet's objects; not that of an installation. */
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
        processes = List.copyOf(processes);
        nodes = List.copyOf(nodes);
    }

    /** Value for {@code bootstrap.servers}. */
    public String bootstrap() {
        return LOOPBACK + ":" + kafkaPort;
    }

    /** Every process of one program. */
    public List<PlannedProcess> of(Program program) {
        return processes.stream()
                .filter(process -> process.program() == program)
                .toList();
    }

    /**
     * Plans a fleet.
     *
     * @param kubeconfig kubeconfig of the processes
     * @param webhookHost address at which the API server reaches the webhook
     */
    public static FleetPlan of(
            FleetOptions options, StateDirectory state, String kubeconfig, String webhookHost, PortAllocator ports) {
        int kafka = ports.allocate("kafka", KAFKA);
        var planner = new Planner(options, state, kubeconfig, webhookHost, LOOPBACK + ":" + kafka, ports);
        return new FleetPlan(options, kafka, planner.processes(), planner.nodes());
    }

    /** Settings of every process. */
    private record Planner(
            FleetOptions options,
            StateDirectory state,
            String kubeconfig,
            String webhookHost,
            String bootstrap,
            PortAllocator ports) {
        List<String> nodes() {
            return IntStream.rangeClosed(1, options.nodes())
                    .mapToObj(i -> "node-" + i)
                    .toList();
        }

        List<PlannedProcess> processes() {
            var processes = new ArrayList<PlannedProcess>();
            if (options.usesFakeApiServer()) {
                processes.add(fakeApiServer());
            }
            if (options.nodes() > 0) {
                processes.add(fakeKubelets());
            }
            for (int replica = 0; replica < options.replicas(); replica++) {
                processes.add(service(Program.INVENTORY, "inventory-service", 0, replica));
                processes.add(service(Program.HEALTH, "health-service", 1, replica));
                processes.add(service(Program.ALLOCATION, "allocation-service", 2, replica));
            }
            List<String> nodes = nodes();
            for (int i = 0; i < nodes.size(); i++) {
                processes.add(daemon(nodes.get(i), i));
            }
            return processes;
        }

        private PlannedProcess fakeApiServer() {
            int http = ports.allocate("kubernetes", KUBERNETES);
            return new PlannedProcess(
                    "kubernetes",
                    Program.FAKE_API_SERVER,
                    Map.of(
                            "GPUFLEET_FAKE_APISERVER_HOST", LOOPBACK,
                            "GPUFLEET_FAKE_APISERVER_PORT", Integer.toString(http),
                            "GPUFLEET_STATE_DIR", state.root().toString()),
                    Map.of("http", http));
        }

        private PlannedProcess fakeKubelets() {
            int http = ports.allocate("kubelets", KUBELETS);
            String specs = nodes().stream()
                    .map(node -> node + "=" + state.sockets().resolve(node))
                    .collect(Collectors.joining(","));
            return new PlannedProcess(
                    "kubelets",
                    Program.FAKE_KUBELETS,
                    Map.of(
                            "GPUFLEET_FAKE_KUBELETS", specs,
                            "GPUFLEET_HTTP_HOST", LOOPBACK,
                            "GPUFLEET_HTTP_PORT", Integer.toString(http),
                            "KUBECONFIG", kubeconfig),
                    Map.of("http", http));
        }

        private PlannedProcess service(Program program, String name, int place, int replica) {
            String instance = name + "-" + replica;
            int offset = replica * 3 + place;
            int http = ports.allocate(instance + " (http)", SERVICE_HTTP + offset);
            int grpc = ports.allocate(instance + " (grpc)", SERVICE_GRPC + offset);
            Map<String, String> environment = kafkaSettings();
            environment.put("GPUFLEET_INSTANCE", instance);
            environment.put("GPUFLEET_HTTP_PORT", Integer.toString(http));
            environment.put("GPUFLEET_GRPC_PORT", Integer.toString(grpc));
            environment.put("KUBECONFIG", kubeconfig);
            var numbers = new TreeMap<>(Map.of("http", http, "grpc", grpc));
            if (program == Program.HEALTH) {
                // A fleet of a few nodes is out of every budget at once.
                environment.put("GPUFLEET_MODE", "enforce");
                environment.put("GPUFLEET_POOLS", "unlimited");
            }
            if (program == Program.ALLOCATION) {
                int webhook = ports.allocate(instance + " (webhook)", WEBHOOK + replica);
                environment.put("GPUFLEET_WEBHOOK_HOST", webhookHost);
                environment.put("GPUFLEET_WEBHOOK_PORT", Integer.toString(webhook));
                environment.put("GPUFLEET_WEBHOOK_URL", "https://" + webhookHost + ":" + webhook + "/admit");
                environment.put("GPUFLEET_NAMESPACE", NAMESPACE);
                numbers.put("webhook", webhook);
            }
            return new PlannedProcess(instance, program, environment, numbers);
        }

        private PlannedProcess daemon(String node, int index) {
            int http = ports.allocate(node, DAEMON_HTTP + index);
            Map<String, String> environment = kafkaSettings();
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
            return new PlannedProcess(node, Program.NODE_DAEMON, environment, Map.of("http", http));
        }

        private Map<String, String> kafkaSettings() {
            return new TreeMap<>(Map.of(
                    "GPUFLEET_CLUSTER", CLUSTER,
                    "GPUFLEET_KAFKA", bootstrap,
                    "GPUFLEET_HTTP_HOST", LOOPBACK));
        }
    }
}
