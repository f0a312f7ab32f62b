package io.gpufleet.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@NullMarked
class RefusedNamePartsTest {
    private static final class FaultDesk {}

    @ParameterizedTest
    @CsvSource({
        "KubeletDesk, Desk",
        "OperatorHand, Hand",
        "HandsOfOperators, Hands",
        "NVMLSigns, Signs",
        "Word, Word",
        "Node2Marks, Marks",
        "FAULT_Look, Look"
    })
    void partIsFound(String name, String part) {
        assertThat(RefusedNameParts.refusedPart(name)).contains(part);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"SignalHandler", "Handle", "Signature", "Keyword", "Marketing", "NvmlLookup", "Bookmarks", ""})
    void otherWordWithTheSameLettersIsAllowed(String name) {
        assertThat(RefusedNameParts.refusedPart(name)).isEmpty();
    }

    @Test
    void ruleRefusesANestedTypeAndNamesTheRemedy() {
        var classes = new ClassFileImporter().importClasses(FaultDesk.class, RefusedNamePartsTest.class);

        var result = ArchitectureRules.typeNamesUseTheTermsOfTheField.evaluate(classes);

        assertThat(result.getFailureReport().getDetails())
                .singleElement()
                .asString()
                .contains("RefusedNamePartsTest$FaultDesk has 'Desk' in its name: rename it");
    }
}
