package io.gpufleet.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.EvaluationResult;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class AtMostTwentyFiveFilesTest {
    @Test
    void ruleRefusesAPackageOfMoreThanTwentyFiveFilesOnceAndNamesTheRemedy() {
        assertThat(of("org.junit.jupiter.api").getFailureReport().getDetails())
                .filteredOn(line -> line.contains("package org.junit.jupiter.api has"))
                .singleElement()
                .asString()
                .contains("move those with a common subject into a package of that name");
    }

    @Test
    void ruleAllowsASmallPackage() {
        assertThat(of("org.jspecify.annotations").hasViolation()).isFalse();
    }

    private static EvaluationResult of(String name) {
        return ArchitectureRules.packagesHaveAtMostTwentyFiveFiles.evaluate(
                new ClassFileImporter().importPackages(name));
    }
}
