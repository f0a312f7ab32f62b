package io.gpufleet.allocation;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.gpufleet.house.HouseRules;

/** The house rules hold here. */
@AnalyzeClasses(packages = "io.gpufleet.allocation", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
