package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.FaultClass;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The JSON schema for editors has the words of the parser, and the bundled packs use no others. */
class PolicySchemaTest {
    private static final Path SCHEMA = Path.of("src/main/resources/io/gpufleet/health/policy/policy.schema.json");

    private final JsonObject schema = schema();

    private static JsonObject schema() {
        try {
            return new JsonObject(Files.readString(SCHEMA));
        } catch (IOException absent) {
            throw new java.io.UncheckedIOException(absent);
        }
    }

    private Set<?> words(String definition) {
        return Set.copyOf(schema.getJsonObject("$defs")
                .getJsonObject(definition)
                .getJsonArray("enum")
                .getList());
    }

    private Set<String> ruleKeys() {
        return schema.getJsonObject("$defs")
                .getJsonObject("rule")
                .getJsonObject("properties")
                .fieldNames();
    }

    @Test
    void classesAndActionsAreThoseOfTheModel() {
        assertThat(words("class"))
                .isEqualTo(
                        Arrays.stream(FaultClass.values()).map(FaultClass::slug).collect(Collectors.toSet()));
        assertThat(words("action"))
                .isEqualTo(Arrays.stream(RecommendedAction.ofRules())
                        .map(RecommendedAction::slug)
                        .collect(Collectors.toSet()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia", "conservative", "aggressive"})
    void bundledPackCanBeReadAndHasOnlyKeysOfTheSchema(String pack) {
        assertThat(PolicyFile.load(pack).name()).isEqualTo(pack);
        Map<String, Object> document = new Yaml().load(PolicyTexts.text(pack));
        assertThat(schema.getJsonObject("properties").fieldNames()).containsAll(document.keySet());
        document.values().stream()
                .filter(Map.class::isInstance)
                .flatMap(section -> ((Map<?, ?>) section).values().stream())
                .filter(Map.class::isInstance)
                .flatMap(rule -> ((Map<?, ?>) rule).keySet().stream())
                .forEach(key -> assertThat(ruleKeys()).contains(String.valueOf(key)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia", "conservative", "aggressive"})
    void bundledPackIsValidByTheSchema(String pack) throws IOException {
        assertThat(violations(PolicyTexts.text(pack))).isEmpty();
    }

    /** What no schema can say is left to {@code gpufleet policy check}: count greater than of, for example. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "class: nonsense",
                "class: suspect, colour: red",
                "class: withdraw, threshold: {count: 0, of: 2, within: PT1M}",
                "class: withdraw, threshold: {count: 2, of: 1000, within: PT1M}",
                "class: withdraw, threshold: {count: 2, of: 3}",
                "class: withdraw, recoveryDwell: 5m"
            })
    void schemaRefusesWhatTheParserRefuses(String rule) throws IOException {
        String bad = PolicyTexts.text("nvidia").replace("nvlink: {class: suspect}", "nvlink: {" + rule + "}");
        assertThatThrownBy(() -> PolicyFile.parse("bad", bad)).isInstanceOf(RuntimeException.class);
        assertThat(violations(bad)).isNotEmpty();
    }

    private static Set<ValidationMessage> violations(String yaml) throws IOException {
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                .getSchema(Files.readString(SCHEMA))
                .validate(new YAMLMapper().readTree(yaml));
    }

    @Test
    void keyThatTheSchemaDoesNotHaveIsRefusedByTheParser() {
        assertThat(PolicyFile.RULE_KEYS).isEqualTo(ruleKeys());
    }
}
