#!/usr/bin/env bash
# Carries GpuRemediations out by templates: claims one, checks that it is still meant, and creates what the template of its
# action says. An action without a template is left to other executors.
#
#   executor.sh TEMPLATES [NAME]     TEMPLATES is a folder with reset-gpu.yaml, reboot.yaml, ...; NAME is who claims
#   GPUFLEET_EXECUTOR_ONCE=true      look once, instead of every 5 s
#
# In a template @NAME@ is the name of the remediation, @NODE@ the node, @UUIDS@ the GPUs as a JSON list. That of validate is a Job,
# and how it ends is the result; the effect of every other action is seen by gpufleet itself.
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
  local started=""
  [[ $3 != Claimed ]] || started=",\"startedAt\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
  kubectl patch gpuremediation "$1" --subresource=status --type=merge -p \
    "{\"metadata\":{\"resourceVersion\":\"$2\"},\"status\":{\"phase\":\"$3\",\"claimedBy\":\"$executor\",\"message\":\"$message\"$started}}"
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

# True for what this executor claimed, or began to create, before it was restarted. After an hour the object that it created
# may have been removed again, so that its name proves nothing any more.
left_by_this() { # NAME
  local status began
  status=$(field "$1" '{.status.claimedBy} {.status.phase} {.status.message}')
  [[ $status == "$executor Claimed "* || $status == "$executor Running creates "* ]] || return 1
  began=$(field "$1" '{.status.startedAt}')
  [[ -n $began ]] && (($(date +%s) < $(date -d "$began" +%s) + 3600))
}

rendered() { # NAME TEMPLATE
  local uuids
  uuids=$(field "$1" '{range .spec.devices[*]}"{.uuid}",{end}') || return 1
  sed -e "s|@NAME@|$1|g" -e "s|@NODE@|$(field "$1" '{.spec.nodeName}')|g" -e "s|@UUIDS@|[${uuids%,}]|g" "$2"
}

# Reports how the Job of a validation has ended, once it has. One that somebody deleted has no result: the deadline counts.
result() { # NAME TEMPLATE
  local ended version
  [[ $(field "$1" '{.status.claimedBy} {.status.phase}') == "$executor Running" ]] || return 0
  version=$(field "$1" '{.metadata.resourceVersion}') || return 0
  # What kubectl reads from its standard input it answers as a list.
  ended=$(rendered "$1" "$2" | kubectl get -f - --ignore-not-found \
    -o 'jsonpath={..status.conditions[?(@.status=="True")].type}') || return 0
  case " $ended " in
    *" Complete "*) status "$1" "$version" Succeeded "its Job completed" || true ;;
    *" Failed "*) status "$1" "$version" Failed "its Job failed" || true ;;
  esac
}

carry_out() { # NAME TEMPLATE
  local version phase reason
  # One that is removed meanwhile, with its Node, is none of ours any more.
  version=$(field "$1" '{.metadata.resourceVersion}') && phase=$(field "$1" '{.status.phase}') || return 0
  if [[ -z $phase || $phase == Pending ]]; then
    status "$1" "$version" Claimed "" || return 0
  elif ! left_by_this "$1"; then
    return 0
  fi
  version=$(field "$1" '{.metadata.resourceVersion}') || return 0
  reason=$(outdated "$1")
  if [[ -z $reason ]]; then
    # Before anything is created: what was ended meanwhile refuses it.
    status "$1" "$version" Running "creates $(basename "$2")" || return 0
    # A name can be created once: an executor that was restarted here does nothing twice.
    if reason=$(rendered "$1" "$2" | kubectl create -f - 2>&1) || [[ $reason == *"(AlreadyExists)"* ]]; then
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
      [[ $action != validate ]] || result "$name" "$template"
    done
  done
  [[ ${GPUFLEET_EXECUTOR_ONCE:-} != true ]] || exit 0
  sleep 5
done
