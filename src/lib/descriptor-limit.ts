/** How many files and sockets this process may have open at once. */
import { readFileSync } from 'node:fs'

/** The soft limit, which Node raises to the hard one at its start; Infinity where the system tells none. */
export function descriptorLimit(): number {
  try {
    return descriptorLimitIn(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return limitInReport() // no Linux
  }
}

/** The soft limit in the text of `/proc/<pid>/limits`. */
export function descriptorLimitIn(limits: string): number {
  return numberOf(/^Max open files +(\S+)/m.exec(limits)?.[1])
}

function limitInReport(): number {
  Object.assign(process.report, { excludeNetwork: true }) // it would look names up
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: string | number } }
  }
  return numberOf(report.userLimits?.open_files?.soft)
}

const numberOf = (soft: string | number | undefined): number => (Number(soft) > 0 ? Number(soft) : Infinity)
