#!/usr/bin/env bash
# Carries GpuRemediations out by templates: claims one, checks that it is still meant, and creates what the template of its
# action says. An action without a template is left to other executors.
#
#   executor.sh TEMPLATES [NAME]     TEMPLATES is a folder with reset-gpu.yaml, reboot.yaml, ...; NAME is who claims
#   GPUFLEET_EXECUTOR_ONCE=true      look once, instead of every 5 s
#
# In a template @NAME@ is the name of the remediation, @NODE@ the node, @UUIDS@ the GPUs as a JSON list.
# Needs kubectl, and what README.md says about rights.
set -euo pipefail

templates=${1:?folder with a template for each action}
executor=${2:-gpufleet-executor}

field() { kubectl get gpuremediation "$1" -o "jsonpath=$2"; }

# Conditional on the version that was read: of two executors one gets a conflict. Nobody else can claim it after that.
status() { # NAME VERSION PHASE MESSAGE
  local message=${4//\\/}
  message=${message//\"/}
  message=${message//$'\n'/ }
  kubectl patch gpuremediation "$1" --subresource=status --type=merge -p \
    "{\"metadata\":{\"resourceVersion\":\"$2\"},\"status\":{\"phase\":\"$3\",\"claimedBy\":\"$executor\",\"message\":\"$message\"}}"
}

# One line why it is not meant any more; nothing while it is.
outdated() {
  local node deadline
  node=$(field "$1" '{.spec.nodeName}')
  deadline=$(field "$1" '{.spec.deadline}')
  if (($(date +%s) >= $(date -d "$deadline" +%s))); then
    echo "its deadline $deadline is over"
  elif [[ $(kubectl get node "$node" -o 'jsonpath={.metadata.uid} {.status.nodeInfo.bootID}') != \
    "$(field "$1" '{.spec.nodeUID} {.spec.bootID}')" ]]; then
    echo "the node was recreated or rebooted"
  fi
}

carry_out() { # NAME TEMPLATE
  local version phase reason uuids
  version=$(field "$1" '{.metadata.resourceVersion}')
  phase=$(field "$1" '{.status.phase}')
  [[ -z $phase || $phase == Pending ]] || return 0
  status "$1" "$version" Claimed "" || return 0
  reason=$(outdated "$1")
  uuids=$(field "$1" '{range .spec.devices[*]}"{.uuid}",{end}')
  if [[ -z $reason ]]; then
    # A name can be created once: an executor that was restarted here does nothing twice.
    if reason=$(sed -e "s|@NAME@|$1|g" -e "s|@NODE@|$(field "$1" '{.spec.nodeName}')|g" \
      -e "s|@UUIDS@|[${uuids%,}]|g" "$2" | kubectl create -f - 2>&1); then
      status "$1" "$(field "$1" '{.metadata.resourceVersion}')" Running "created by $(basename "$2")" || true
      return 0
    fi
  fi
  status "$1" "$(field "$1" '{.metadata.resourceVersion}')" Failed "$reason" || true
}

while true; do
  for template in "$templates"/*.yaml; do
    action=$(basename "$template" .yaml)
    for name in $(kubectl get gpuremediations \
      -o "jsonpath={.items[?(@.spec.action==\"$action\")].metadata.name}"); do
      carry_out "$name" "$template"
    done
  done
  [[ ${GPUFLEET_EXECUTOR_ONCE:-} != true ]] || exit 0
  sleep 5
done
