/** Rules that judge the readings of a GPU over its polls; they open no fault and withdraw no device. JDK only. */
@NullMarked
package io.gpufleet.nodedaemon.model.fault.rules;

import org.jspecify.annotations.NullMarked;
