package io.gpufleet.nodedaemon.pluginconfig;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.pluginconfig.SettingKey.Use;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PluginKeysTest {
    private static final Path README = Path.of("README.md");
    private static final String BEGIN = "<!-- written by PluginKeysTest with -Dreadme.write=true -->\n";
    private static final String END = "<!-- end of the keys -->\n";

    @Test
    void readmeHasTheTableOfTheKeysThatAreRead() throws IOException {
        String readme = Files.readString(README);
        int begin = readme.indexOf(BEGIN) + BEGIN.length();
        int end = readme.indexOf(END);
        if (Boolean.getBoolean("readme.write")) {
            Files.writeString(README, readme.substring(0, begin) + PluginKeys.readme() + readme.substring(end));
        }

        assertThat(Files.readString(README)).contains(BEGIN + PluginKeys.readme() + END);
    }

    static Stream<SettingKey<PluginSettingsBuilder>> keysWithADefaultValue() {
        return PluginKeys.NODE.keys().stream()
                .filter(key -> key.use() instanceof Use.Written)
                .filter(key ->
                        !key.fallback().equals("nothing") && !key.fallback().startsWith("GPUFLEET_"));
    }

    @ParameterizedTest
    @MethodSource("keysWithADefaultValue")
    void defaultThatTheTableNamesIsTheDefault(SettingKey<PluginSettingsBuilder> key) {
        // Given
        var settings = new PluginSettingsBuilder("/");
        // When
        PluginKeys.NODE.write(key, key.fallback().replace("`", ""), settings);
        // Then
        assertThat(settings.build()).isEqualTo(new PluginSettingsBuilder("/").build());
    }

    @Test
    void noKeyAndNoVariableIsThereTwice() {
        assertThat(PluginKeys.NODE.keys())
                .filteredOn(key -> !key.path().isEmpty())
                .extracting(SettingKey::path)
                .doesNotHaveDuplicates();
        assertThat(PluginKeys.NODE.keys())
                .filteredOn(key -> !key.variable().isEmpty())
                .extracting(SettingKey::variable)
                .doesNotHaveDuplicates();
    }
}
