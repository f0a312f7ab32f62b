/** What the roles and policies of the manifests allow on a real API server, and what they refuse. */
@NullMarked
package io.gpufleet.cli.rights;

import org.jspecify.annotations.NullMarked;
