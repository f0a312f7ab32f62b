package io.gpufleet.nodedaemon.pluginconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
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

class SettingsWatcherTest {
    @TempDir
    Path directory;

    private final List<SettingsSelector> selectors = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private String file = "";
    private String named = "";
    private Set<DeviceListStrategy> ownStrategies = Set.of();

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

    private SettingsWatcher watcher() {
        var places = new SettingsSources("gpu-a-1", file, named, directory.resolve("state"), "/", ownStrategies);
        return new SettingsWatcher(places, new NvidiaPluginEnvironment(environment), selectors::add);
    }

    private void useDirectory() {
        named = directory.resolve("configs").toString();
    }

    private void useFile(String name) {
        file = directory.resolve("configs").resolve(name).toString();
    }

    private static PluginSettings on(SettingsSelector choice, int gpus) {
        return choice.select(IntStream.range(0, gpus)
                        .mapToObj(TestGpus::gpu)
                        .map(gpu -> new KnownGpu(gpu, new KnownGpu.Presence.Answering()))
                        .toList())
                .settings();
    }

    @Test
    void defaultsAreThoseOfNvidiasPlugin() {
        assertThat(on(watcher().selector(), 8)).isEqualTo(PluginSettings.DEFAULT);
    }

    @Test
    void ourEnvironmentOverwritesNvidiasWhichOverwritesTheFile() throws IOException {
        write("one.yaml", """
                version: v1
                flags: {migStrategy: single, gdsEnabled: true, plugin: {deviceListStrategy: envvar}}
                """);
        useFile("one.yaml");
        environment.putAll(Map.of("MIG_STRATEGY", "mixed", "DEVICE_LIST_STRATEGY", "cdi-cri", "GDS_ENABLED", "false"));
        ownStrategies = Set.of(DeviceListStrategy.HOST_MOUNTS);

        PluginSettings settings = on(watcher().selector(), 8);

        assertThat(settings.mig()).isEqualTo(MigStrategy.MIXED);
        assertThat(settings.allocate().kernelInterfaces()).isEmpty();
        assertThat(settings.allocate().strategies()).containsExactly(DeviceListStrategy.HOST_MOUNTS);
    }

    @Test
    void fileIsReadFromNvidiasVariable() throws IOException {
        mig("one.yaml", "mixed");
        environment.put("CONFIG_FILE", directory.resolve("configs/one.yaml").toString());

        assertThat(on(watcher().selector(), 8).mig()).isEqualTo(MigStrategy.MIXED);
    }

    @Test
    void invalidFileFailsTheStart() throws IOException {
        mig("one.yaml", "some");
        useFile("one.yaml");

        assertThatThrownBy(this::watcher)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(file + ":2:22: flags.migStrategy 'some' is not usable: it takes none");
    }

    @Test
    void missingFileAndDirectoryFailTheStart() {
        useFile("none.yaml");
        assertThatThrownBy(this::watcher).hasMessageContaining("none.yaml cannot be read: it does not exist");

        file = "";
        named = directory.resolve("none").toString();
        assertThatThrownBy(this::watcher).hasMessageContaining("none cannot be read: it does not exist");
    }

    @Test
    void invalidVariableFailsTheStart() {
        environment.put("DP_DISABLE_HEALTHCHECKS", "13,many");

        assertThatThrownBy(this::watcher)
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("DP_DISABLE_HEALTHCHECKS='13,many' is not usable: it takes numbers of XIDs, or all");
    }

    @Test
    void changedFileIsAppliedAndAnInvalidOneIgnored() throws IOException {
        // Given a watched file
        mig("one.yaml", "none");
        useFile("one.yaml");
        var watcher = watcher();
        watcher.poll();
        assertThat(selectors).isEmpty();

        // When it changes, is invalid, and is corrected
        mig("one.yaml", "mixed");
        watcher.poll();
        write("one.yaml", "version: [");
        watcher.poll();
        Files.delete(directory.resolve("configs/one.yaml"));
        watcher.poll();
        mig("one.yaml", "single");
        watcher.poll();

        // Then only valid settings are published
        assertThat(selectors)
                .extracting(choice -> on(choice, 1).mig())
                .containsExactly(MigStrategy.MIXED, MigStrategy.SINGLE);
    }

    @Test
    void mountedConfigMapIsReplacedAsAWhole() throws IOException {
        // Given a ConfigMap as the kubelet mounts it: names link into ..data, which links to a dated directory
        Path mount = directory.resolve("configs");
        for (String version : List.of("none", "mixed")) {
            Path dated = Files.createDirectory(mount.resolve("..dated-" + version));
            Files.writeString(dated.resolve("one.yaml"), "version: v1\nflags: {migStrategy: " + version + "}\n");
        }
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..dated-none"));
        Files.createSymbolicLink(mount.resolve("one.yaml"), Path.of("..data/one.yaml"));
        useDirectory();
        write("select.yaml", "rules: [{config: one}]");
        var watcher = watcher();
        assertThat(on(watcher.selector(), 1).mig()).isEqualTo(MigStrategy.NONE);

        // When the kubelet replaces it
        Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of("..dated-mixed"));
        Files.move(mount.resolve("..data_tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        watcher.poll();

        assertThat(selectors).extracting(choice -> on(choice, 1).mig()).containsExactly(MigStrategy.MIXED);
    }

    @Test
    void firstMatchingRuleDecides() throws IOException {
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

        SettingsSelector choice = watcher().selector();

        assertThat(on(choice, 4).mig()).isEqualTo(MigStrategy.SINGLE);
        assertThat(on(choice, 8).mig()).isEqualTo(MigStrategy.MIXED);
        assertThat(on(choice, 0).mig()).isEqualTo(MigStrategy.NONE);
    }

    @Test
    void ruleWithAMissingFileIsRejected() throws IOException {
        write("select.yaml", "rules:\n  - {config: nowhere}\n");
        useDirectory();

        assertThatThrownBy(this::watcher)
                .hasMessageContaining("select.yaml:2:14: rules[0].config 'nowhere' is not usable: it takes a file");
    }

    @Test
    void labelOverridesRulesUntilItIsRemoved() throws IOException {
        mig("rest.yaml", "single");
        mig("mine.yaml", "mixed");
        write("select.yaml", "rules: [{config: rest}]");
        useDirectory();
        var watcher = watcher();

        watcher.labelChanged("mine");
        watcher.labelChanged("mine");
        watcher.labelChanged("");

        assertThat(selectors)
                .extracting(choice -> on(choice, 1).mig())
                .containsExactly(MigStrategy.MIXED, MigStrategy.SINGLE);
    }

    @Test
    void savedLabelIsAppliedByTheNextStart() throws IOException {
        mig("mine.yaml", "mixed");
        useDirectory();
        watcher().labelChanged("mine");

        assertThat(on(watcher().selector(), 1).mig()).isEqualTo(MigStrategy.MIXED);
    }

    @Test
    void labelWithAMissingFileIsAppliedOnceItExists() throws IOException {
        mig("mine.yaml", "mixed");
        useDirectory();
        var watcher = watcher();
        watcher.labelChanged("mine");

        watcher.labelChanged("../../etc/passwd");
        watcher.labelChanged("later");
        assertThat(selectors).hasSize(1);
        mig("later.yaml", "single");
        watcher.poll();

        assertThat(selectors)
                .extracting(choice -> on(choice, 1).mig())
                .containsExactly(MigStrategy.MIXED, MigStrategy.SINGLE);
    }

    @Test
    void startIgnoresASavedLabelWithAMissingFile() throws IOException {
        mig("mine.yaml", "mixed");
        useDirectory();
        watcher().labelChanged("mine");
        Files.delete(directory.resolve("configs/mine.yaml"));

        assertThat(on(watcher().selector(), 1)).isEqualTo(PluginSettings.DEFAULT);
    }
}
