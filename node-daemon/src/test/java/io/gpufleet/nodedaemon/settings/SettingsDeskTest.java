package io.gpufleet.nodedaemon.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsDeskTest {
    @TempDir
    Path directory;

    private final List<SettingsChoice> heard = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private String file = "";
    private String named = "";
    private Set<Strategy> own = Set.of();

    @BeforeEach
    void directories() throws IOException {
        Files.createDirectory(directory.resolve("configs"));
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(directory.resolve("configs").resolve(name), text);
    }

    private void mig(String name, String strategy) throws IOException {
        write(name, "version: v1\nflags: {migStrategy: " + strategy + "}\n");
    }

    private SettingsDesk desk() {
        var places = new SettingsPlaces("gpu-a-1", file, named, directory.resolve("state"), "/", own);
        return new SettingsDesk(places, new NvidiaEnvironment(environment), heard::add);
    }

    private void useDirectory() {
        named = directory.resolve("configs").toString();
    }

    private void useFile(String name) {
        file = directory.resolve("configs").resolve(name).toString();
    }

    private static PluginSettings on(SettingsChoice choice, int gpus) {
        return choice.on(IntStream.range(0, gpus)
                        .mapToObj(Some::gpu)
                        .map(gpu -> new KnownGpu(gpu, new KnownGpu.Presence.Answering()))
                        .toList())
                .settings();
    }

    @Test
    void nothingWrittenIsWhatNvidiasPluginDoesByDefault() {
        assertThat(on(desk().choice(), 8)).isEqualTo(PluginSettings.STANDARD);
    }

    @Test
    void ourEnvironmentWinsOverNvidiasAndThatOverTheFile() throws IOException {
        write("one.yaml", """
                version: v1
                flags: {migStrategy: single, gdsEnabled: true, plugin: {deviceListStrategy: envvar}}
                """);
        useFile("one.yaml");
        environment.putAll(Map.of("MIG_STRATEGY", "mixed", "DEVICE_LIST_STRATEGY", "cdi-cri", "GDS_ENABLED", "false"));
        own = Set.of(Strategy.HOST_MOUNTS);

        PluginSettings settings = on(desk().choice(), 8);

        assertThat(settings.mig()).isEqualTo(MigStrategy.MIXED);
        assertThat(settings.allocate().extras()).isEmpty();
        assertThat(settings.allocate().strategies()).containsExactly(Strategy.HOST_MOUNTS);
    }

    @Test
    void nvidiasVariableNamesTheFile() throws IOException {
        mig("one.yaml", "mixed");
        environment.put("CONFIG_FILE", directory.resolve("configs/one.yaml").toString());

        assertThat(on(desk().choice(), 8).mig()).isEqualTo(MigStrategy.MIXED);
    }

    @Test
    void badFileStopsTheStart() throws IOException {
        mig("one.yaml", "some");
        useFile("one.yaml");

        assertThatThrownBy(this::desk)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(file + ":2:22: flags.migStrategy 'some' is not usable: it takes none");
    }

    @Test
    void missingFileAndDirectoryStopTheStart() {
        useFile("none.yaml");
        assertThatThrownBy(this::desk).hasMessageContaining("none.yaml can not be read: it is not there");

        file = "";
        named = directory.resolve("none").toString();
        assertThatThrownBy(this::desk).hasMessageContaining("none can not be read: it is not there");
    }

    @Test
    void badVariableStopsTheStart() {
        environment.put("DP_DISABLE_HEALTHCHECKS", "13,many");

        assertThatThrownBy(this::desk)
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("DP_DISABLE_HEALTHCHECKS='13,many' is not usable: it takes numbers of XIDs, or all");
    }

    @Test
    void changedFileIsTakenAndABadOneLeavesTheOldInForce() throws IOException {
        // Given a daemon that follows a file
        mig("one.yaml", "none");
        useFile("one.yaml");
        var desk = desk();
        desk.look();
        assertThat(heard).isEmpty();

        // When it is changed, broken, and repaired
        mig("one.yaml", "mixed");
        desk.look();
        write("one.yaml", "version: [");
        desk.look();
        Files.delete(directory.resolve("configs/one.yaml"));
        desk.look();
        mig("one.yaml", "single");
        desk.look();

        // Then only what could be used was handed on
        assertThat(heard)
                .extracting(choice -> on(choice, 1).mig())
                .containsExactly(MigStrategy.MIXED, MigStrategy.SINGLE);
    }

    @Test
    void mountedConfigMapIsSwappedAsAWhole() throws IOException {
        // Given a ConfigMap as the kubelet mounts it: names point into ..data, which points to a dated directory
        Path mount = directory.resolve("configs");
        for (String version : List.of("none", "mixed")) {
            Path dated = Files.createDirectory(mount.resolve("..dated-" + version));
            Files.writeString(dated.resolve("one.yaml"), "version: v1\nflags: {migStrategy: " + version + "}\n");
        }
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..dated-none"));
        Files.createSymbolicLink(mount.resolve("one.yaml"), Path.of("..data/one.yaml"));
        useDirectory();
        write("select.yaml", "rules: [{config: one}]");
        var desk = desk();
        assertThat(on(desk.choice(), 1).mig()).isEqualTo(MigStrategy.NONE);

        // When the kubelet swaps it
        Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of("..dated-mixed"));
        Files.move(mount.resolve("..data_tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        desk.look();

        assertThat(heard).extracting(choice -> on(choice, 1).mig()).containsExactly(MigStrategy.MIXED);
    }

    @Test
    void firstRuleThatFitsDecides() throws IOException {
        mig("four.yaml", "single");
        mig("h100.yaml", "mixed");
        mig("rest.yaml", "none");
        write("foreign.yaml", "version: [");
        write("select.yaml", """
                rules:
                  - {node: "gpu-b-*", config: foreign.yaml}
                  - {model: "h1??", gpus: 4, config: four}
                  - {node: "gpu-a-*", model: "*H100*", config: h100.yaml}
                  - {config: rest}
                """);
        useDirectory();

        SettingsChoice choice = desk().choice();

        assertThat(on(choice, 4).mig()).isEqualTo(MigStrategy.SINGLE);
        assertThat(on(choice, 8).mig()).isEqualTo(MigStrategy.MIXED);
        assertThat(on(choice, 0).mig()).isEqualTo(MigStrategy.NONE);
    }

    @Test
    void ruleForAFileThatIsNotThereIsAnswered() throws IOException {
        write("select.yaml", "rules:\n  - {config: nowhere}\n");
        useDirectory();

        assertThatThrownBy(this::desk)
                .hasMessageContaining("select.yaml:2:14: rules[0].config 'nowhere' is not usable: it takes a file");
    }

    @Test
    void labelWinsOverRulesAndItsAbsenceGivesThemBack() throws IOException {
        mig("rest.yaml", "single");
        mig("mine.yaml", "mixed");
        write("select.yaml", "rules: [{config: rest}]");
        useDirectory();
        var desk = desk();

        desk.labelled("mine");
        desk.labelled("mine");
        desk.labelled("");

        assertThat(heard)
                .extracting(choice -> on(choice, 1).mig())
                .containsExactly(MigStrategy.MIXED, MigStrategy.SINGLE);
    }

    @Test
    void labelIsObeyedByTheNextStartBeforeKafkaAnswers() throws IOException {
        mig("mine.yaml", "mixed");
        useDirectory();
        desk().labelled("mine");

        assertThat(on(desk().choice(), 1).mig()).isEqualTo(MigStrategy.MIXED);
    }

    @Test
    void labelThatNamesNothingChangesNothingUntilItsFileIsWritten() throws IOException {
        mig("mine.yaml", "mixed");
        useDirectory();
        var desk = desk();
        desk.labelled("mine");

        desk.labelled("../../etc/passwd");
        desk.labelled("later");
        assertThat(heard).hasSize(1);
        mig("later.yaml", "single");
        desk.look();

        assertThat(heard)
                .extracting(choice -> on(choice, 1).mig())
                .containsExactly(MigStrategy.MIXED, MigStrategy.SINGLE);
    }

    @Test
    void startWithALabelWhoseFileIsGoneGoesOnWithoutIt() throws IOException {
        mig("mine.yaml", "mixed");
        useDirectory();
        desk().labelled("mine");
        Files.delete(directory.resolve("configs/mine.yaml"));

        assertThat(on(desk().choice(), 1)).isEqualTo(PluginSettings.STANDARD);
    }
}
