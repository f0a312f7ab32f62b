package io.gpufleet.kit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class OpenApiDocumentTest {
    private static final String COMMON =
            "paths:\n  /livez:\n    get: {}\ncomponents:\n  responses:\n    Problem: {}\n  schemas:\n    Probe: {}\n";

    @Test
    void sectionsOfTheCommonDocumentComeFirst() {
        assertThat(OpenApiDocument.merge(
                        "paths:\n  /v1: {}\ncomponents:\n  responses:\n  schemas:\n    Own: {}\n", COMMON))
                .isEqualTo("paths:\n  /livez:\n    get: {}\n  /v1: {}\ncomponents:\n  responses:\n    Problem: {}\n"
                        + "  schemas:\n    Probe: {}\n    Own: {}\n");
    }

    @Test
    void documentWithoutASectionIsNamed() {
        assertThatThrownBy(() -> OpenApiDocument.merge("paths:\ncomponents:\n  schemas:\n", COMMON))
                .hasMessageContaining("has no line '  responses:'");
    }
}
