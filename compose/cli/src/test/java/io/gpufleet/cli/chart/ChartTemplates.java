package io.gpufleet.cli.chart;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes the templates of the chart from objects that kustomize renders: what values.yaml has a value for becomes a
 * directive, everything else stays as it is.
 */
final class ChartTemplates {
    static final String ORIGIN =
            "{{- /* Made by HelmChartTest from %s; write it again with -Dhelm.write=true. */ -}}%n";

    private static final List<String> PROGRAMS =
            List.of("inventory-service", "health-service", "allocation-service", "node-daemon", "topics");
    /** A directive while it is a value of a tree: the text that is written for it does not survive a YAML writer. */
    private static final Pattern PLACEHOLDER = Pattern.compile("(?m)^( *)(.*?)[\"']?@@(\\d+)@@[\"']?$");

    /** Text of a value, and the condition under which its line is there. */
    private record Directive(String text, Optional<String> condition) {}

    private final List<Directive> directives = new ArrayList<>();
    private final KubernetesSerialization yaml = new KubernetesSerialization();

    /** Templates of the base by file name; the objects are those of the base with the component {@code kafka-client}. */
    Map<String, String> base(Map<String, ObjectNode> objects) {
        var files = new TreeMap<String, String>();
        objects.values().forEach(object -> files.merge(file(object), document(object), String::concat));
        files.replaceAll((_, text) -> ORIGIN.formatted("k8s/base") + text);
        return files;
    }

    /** Template of a component: what it adds to the base, while its value is set. */
    String component(String name, List<ObjectNode> added) {
        var text = new StringBuilder(ORIGIN.formatted("k8s/components/" + name));
        text.append("{{- if index .Values.components \"%s\" }}%n".formatted(name));
        added.forEach(object -> text.append(document(object)));
        return text.append("{{- end }}\n").toString();
    }

    private static String file(ObjectNode object) {
        String kind = object.path("kind").asText();
        String name = object.path("metadata").path("name").asText();
        // A role that no ServiceAccount of gpufleet has.
        if (kind.equals("ClusterRole") && PROGRAMS.stream().noneMatch(name::contains)) {
            return "access.yaml";
        }
        return switch (kind) {
            case "Namespace", "ResourceQuota" -> "namespaces.yaml";
            case "ConfigMap" -> "settings.yaml";
            case "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding" -> "admission.yaml";
            case "ValidatingWebhookConfiguration" -> "allocation-service.yaml";
            default ->
                PROGRAMS.stream()
                                .filter(name::contains)
                                .findFirst()
                                .orElseThrow(() -> new AssertionError("no template for " + kind + " " + name))
                        + ".yaml";
        };
    }

    private String document(ObjectNode original) {
        ObjectNode object = original.deepCopy();
        ObjectNode metadata = (ObjectNode) object.path("metadata");
        String name = metadata.path("name").asText();
        switch (object.path("kind").asText()) {
            case "ConfigMap" -> settings(object, name);
            case "StatefulSet" -> {
                ((ObjectNode) object.path("spec"))
                        .put("replicas", value("{{ index .Values.replicas \"%s\" }}".formatted(name)));
                pod(object, name);
            }
            case "DaemonSet" -> {
                pod(object, name);
                ((ObjectNode) object.at("/spec/template/spec"))
                        .put("nodeSelector", value("{{ toJson .Values.nodeSelector }}"));
            }
            case "Job" -> {
                // A Job cannot be changed: each revision has its own, and Helm deletes the one before.
                metadata.put("name", value(name + "-{{ .Release.Revision }}"));
                pod(object, name);
            }
            case "NetworkPolicy" -> apiServers(object, name);
            default -> {}
        }
        return written(object);
    }

    /** The ConfigMaps whose keys are settings; that of the dashboards stays. */
    private void settings(ObjectNode object, String name) {
        if (name.equals("gpufleet") || PROGRAMS.contains(name)) {
            object.put("data", value("{{ include \"gpufleet.settings\" (list $ \"%s\") }}".formatted(name)));
        }
    }

    private void pod(ObjectNode object, String program) {
        ObjectNode template = (ObjectNode) object.at("/spec/template");
        ((ObjectNode) template.path("metadata"))
                .putObject("annotations")
                .put(
                        "checksum/settings",
                        value("{{ include \"gpufleet.checksum\" (list $ \"%s\") }}".formatted(program)));
        ObjectNode pod = (ObjectNode) template.path("spec");
        pod.put(
                "imagePullSecrets",
                value("{{ toJson .Values.image.pullSecrets }}", Optional.of(".Values.image.pullSecrets")));
        for (JsonNode each : pod.path("containers")) {
            ObjectNode container = (ObjectNode) each;
            String image = container.path("image").asText().replaceFirst("^gpufleet/([a-z-]+):.*$", "$1");
            container.put("image", value("{{ include \"gpufleet.image\" (list $ \"%s\") }}".formatted(image)));
            container.put("resources", value("{{ toJson (index .Values.resources \"%s\") }}".formatted(program)));
            kafkaClient((ArrayNode) container.path("volumeMounts"));
        }
        kafkaClient((ArrayNode) pod.path("volumes"));
    }

    private void kafkaClient(ArrayNode items) {
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i).path("name").asText().equals("kafka-client")) {
                String condition = "index .Values.components \"kafka-client\"";
                items.set(i, value(items.get(i).toString(), Optional.of(condition)));
            }
        }
    }

    private void apiServers(ObjectNode object, String name) {
        if (name.equals("webhook")) {
            ((ObjectNode) object.at("/spec/ingress/0")).put("from", value("{{ include \"gpufleet.apiServers\" . }}"));
        }
    }

    private String value(String text) {
        return value(text, Optional.empty());
    }

    private String value(String text, Optional<String> condition) {
        directives.add(new Directive(text, condition));
        return "@@" + (directives.size() - 1) + "@@";
    }

    private String written(ObjectNode object) {
        // Alerts and dashboards have templates of their own.
        String text = yaml.asYaml(object).replace("{{", "{{ \"{{\" }}");
        String replaced = PLACEHOLDER.matcher(text).replaceAll(found -> {
            Directive directive = directives.get(Integer.parseInt(found.group(3)));
            String line = found.group(1) + found.group(2) + directive.text();
            return Matcher.quoteReplacement(directive
                    .condition()
                    .map(condition ->
                            "%1$s{{- if %2$s }}%n%3$s%n%1$s{{- end }}".formatted(found.group(1), condition, line))
                    .orElse(line));
        });
        return (replaced.startsWith("---") ? "" : "---\n") + replaced;
    }
}
