package io.gpufleet.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class AtMostEightComponentsTest {
    private record Eight(int a, int b, int c, int d, int e, int f, int g, int h) {
        static final int LIMIT = 8;
    }

    private record Nine(int a, int b, int c, int d, int e, int f, int g, int h, int i) {}

    @Test
    void ruleRefusesTheNinthComponentAndNamesTheRemedy() {
        var classes = new ClassFileImporter().importClasses(Eight.class, Nine.class);

        var result = ArchitectureRules.recordsHaveAtMostEightComponents.evaluate(classes);

        assertThat(result.getFailureReport().getDetails())
                .singleElement()
                .asString()
                .contains("AtMostEightComponentsTest$Nine has 9 components: move those");
    }
}
