package io.gpufleet.kit;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.gpufleet.house.HouseRules;
import org.jspecify.annotations.NullMarked;

/** The house rules hold here. */
@NullMarked
@AnalyzeClasses(packages = "io.gpufleet.kit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
