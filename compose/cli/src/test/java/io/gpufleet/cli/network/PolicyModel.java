package io.gpufleet.cli.network;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Whether a connection is allowed, as the reference of NetworkPolicy says: the policies that select a pod add up, a pod that
 * none selects is open, and both ends must allow. Forms that no policy here uses are refused, not guessed.
 */
final class PolicyModel {
    /** An end of a connection. */
    sealed interface End {}

    /** A pod, with the labels of its namespace. */
    record Pod(String namespace, Map<String, String> namespaceLabels, Map<String, String> labels) implements End {
        Pod {
            namespaceLabels = Map.copyOf(namespaceLabels);
            labels = Map.copyOf(labels);
        }
    }

    /** An address outside of the network of the pods. */
    record Address(String ip) implements End {}

    /** A port with its protocol. */
    record Port(int number, String protocol) {}

    private final List<NetworkPolicy> policies;

    PolicyModel(List<NetworkPolicy> policies) {
        this.policies = List.copyOf(policies);
    }

    boolean allows(End from, End to, Port port) {
        boolean leaves = switch (from) {
            case Pod sender -> leaves(sender, to, port);
            case Address _ -> true;
        };
        return leaves
                && switch (to) {
                    case Pod receiver -> enters(from, receiver, port);
                    case Address _ -> true;
                };
    }

    private boolean leaves(Pod pod, End to, Port port) {
        List<NetworkPolicy> selecting = selecting(pod, "Egress");
        return selecting.isEmpty()
                || selecting.stream()
                        .flatMap(policy -> policy.getSpec().getEgress().stream()
                                .filter(rule ->
                                        matches(rule.getPorts(), port) && matchesPeer(rule.getTo(), policy, to)))
                        .findAny()
                        .isPresent();
    }

    private boolean enters(End from, Pod pod, Port port) {
        List<NetworkPolicy> selecting = selecting(pod, "Ingress");
        return selecting.isEmpty()
                || selecting.stream()
                        .flatMap(policy -> policy.getSpec().getIngress().stream()
                                .filter(rule ->
                                        matches(rule.getPorts(), port) && matchesPeer(rule.getFrom(), policy, from)))
                        .findAny()
                        .isPresent();
    }

    private List<NetworkPolicy> selecting(Pod pod, String type) {
        return policies.stream()
                .filter(policy -> policy.getMetadata().getNamespace().equals(pod.namespace()))
                .filter(policy -> policy.getSpec().getPolicyTypes().contains(type))
                .filter(policy -> selects(policy.getSpec().getPodSelector(), pod.labels()))
                .toList();
    }

    /** No ports are all ports. */
    private static boolean matches(List<NetworkPolicyPort> ports, Port port) {
        return ports.isEmpty()
                || ports.stream().anyMatch(each -> {
                    int first = Optional.ofNullable(each.getPort())
                            .map(IntOrString::getIntVal)
                            .orElseThrow(() -> new AssertionError("a named port is not modelled: " + each));
                    int last = Objects.requireNonNullElse(each.getEndPort(), first);
                    return Objects.requireNonNullElse(each.getProtocol(), "TCP").equals(port.protocol())
                            && first <= port.number()
                            && port.number() <= last;
                });
    }

    /** No peers are all peers. */
    private static boolean matchesPeer(List<NetworkPolicyPeer> peers, NetworkPolicy policy, End end) {
        return peers.isEmpty() || peers.stream().anyMatch(peer -> matches(peer, policy, end));
    }

    private static boolean matches(NetworkPolicyPeer peer, NetworkPolicy policy, End end) {
        if (peer.getIpBlock() != null) {
            if (!peer.getIpBlock().getExcept().isEmpty()) {
                throw new AssertionError("except is not modelled: " + peer);
            }
            String cidr = peer.getIpBlock().getCidr();
            return switch (end) {
                case Address(String ip) -> contains(cidr, ip);
                // Which address a pod has is not known: any block but that of every address may be another one.
                case Pod _ -> cidr.equals("0.0.0.0/0");
            };
        }
        return switch (end) {
            case Address _ -> false;
            case Pod pod ->
                (peer.getNamespaceSelector() == null
                                ? policy.getMetadata().getNamespace().equals(pod.namespace())
                                : selects(peer.getNamespaceSelector(), pod.namespaceLabels()))
                        && (peer.getPodSelector() == null || selects(peer.getPodSelector(), pod.labels()));
        };
    }

    private static boolean selects(LabelSelector selector, Map<String, String> labels) {
        if (!selector.getMatchExpressions().isEmpty()) {
            throw new AssertionError("matchExpressions are not modelled: " + selector);
        }
        return Optional.ofNullable(selector.getMatchLabels()).orElse(Map.of()).entrySet().stream()
                .allMatch(label -> label.getValue().equals(labels.get(label.getKey())));
    }

    private static boolean contains(String cidr, String ip) {
        String[] parts = cidr.split("/", -1);
        int bits = Integer.parseInt(parts[1]);
        byte[] block = InetAddress.ofLiteral(parts[0]).getAddress();
        byte[] address = InetAddress.ofLiteral(ip).getAddress();
        if (block.length != address.length) {
            return false;
        }
        int whole = bits / Byte.SIZE;
        int rest = bits % Byte.SIZE;
        return Arrays.equals(block, 0, whole, address, 0, whole)
                && (rest == 0 || (block[whole] ^ address[whole]) >> (Byte.SIZE - rest) == 0);
    }
}
