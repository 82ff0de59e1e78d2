/** Values of `command_status` (SMPP 3.4, section 5.1.3), for a message and for a bind. */

/** `throttled`: send more slowly. `retry`: not accepted now. `unbound`: the session is not bound as expected. */
export type Verdict = 'throttled' | 'retry' | 'refused' | 'unbound'

interface Status {
  readonly name: string
  readonly verdict: Verdict
  readonly message: string
}

const statuses: Readonly<Record<number, Status>> = {
  0x01: { name: 'ESME_RINVMSGLEN', verdict: 'refused', message: 'The length of the message is invalid.' },
  0x02: { name: 'ESME_RINVCMDLEN', verdict: 'refused', message: 'The length of the packet is invalid.' },
  0x03: {
    name: 'ESME_RINVCMDID',
    verdict: 'refused',
    message: 'The SMSC does not know the command. If it is a bind, try another `bind_mode`.',
  },
  0x04: { name: 'ESME_RINVBNDSTS', verdict: 'unbound', message: 'The session is not bound for this command.' },
  0x05: { name: 'ESME_RALYBND', verdict: 'retry', message: 'The account is already bound and may not be bound again.' },
  0x06: { name: 'ESME_RINVPRTFLG', verdict: 'refused', message: 'The priority is invalid.' },
  0x07: { name: 'ESME_RINVREGDLVFLG', verdict: 'refused', message: 'The request for a delivery receipt is invalid.' },
  0x08: { name: 'ESME_RSYSERR', verdict: 'retry', message: 'The SMSC had an internal error.' },
  0x0a: {
    name: 'ESME_RINVSRCADR',
    verdict: 'refused',
    message: 'The sender is not allowed. Ask the operator to register it, or check `source_ton` and `source_npi`.',
  },
  0x0b: {
    name: 'ESME_RINVDSTADR',
    verdict: 'refused',
    message: 'The recipient is not a number that the SMSC can reach.',
  },
  0x0c: { name: 'ESME_RINVMSGID', verdict: 'refused', message: 'The id of the message is invalid.' },
  0x0d: {
    name: 'ESME_RBINDFAIL',
    verdict: 'refused',
    message:
      'The bind was refused. Compare `system_id`, `password`, `system_type` and `bind_mode` with what the operator gave.',
  },
  0x0e: {
    name: 'ESME_RINVPASWD',
    verdict: 'refused',
    message: 'The password is wrong. Compare `password` with the data from the operator.',
  },
  0x0f: {
    name: 'ESME_RINVSYSID',
    verdict: 'refused',
    message: 'The SMSC does not know the system id. Compare `system_id` with what the operator gave.',
  },
  0x11: { name: 'ESME_RCANCELFAIL', verdict: 'refused', message: 'The message could not be cancelled.' },
  0x13: { name: 'ESME_RREPLACEFAIL', verdict: 'refused', message: 'The message could not be replaced.' },
  0x14: { name: 'ESME_RMSGQFUL', verdict: 'throttled', message: 'The queue of the SMSC is full.' },
  0x15: { name: 'ESME_RINVSERTYP', verdict: 'refused', message: 'The service type is invalid.' },
  0x33: { name: 'ESME_RINVNUMDESTS', verdict: 'refused', message: 'The number of recipients is invalid.' },
  0x34: { name: 'ESME_RINVDLNAME', verdict: 'refused', message: 'The distribution list is invalid.' },
  0x40: { name: 'ESME_RINVDESTFLAG', verdict: 'refused', message: 'The kind of recipient is invalid.' },
  0x42: { name: 'ESME_RINVSUBREP', verdict: 'refused', message: 'Replacing is not allowed.' },
  0x43: {
    name: 'ESME_RINVESMCLASS',
    verdict: 'refused',
    message: 'The SMSC does not accept parts joined by a header. Try another `long_messages`.',
  },
  0x44: { name: 'ESME_RCNTSUBDL', verdict: 'refused', message: 'The SMSC cannot send to a distribution list.' },
  0x45: { name: 'ESME_RSUBMITFAIL', verdict: 'refused', message: 'The SMSC did not accept the message.' },
  0x48: {
    name: 'ESME_RINVSRCTON',
    verdict: 'refused',
    message: 'The type of the sender is invalid; set `source_ton` to what the operator asks for.',
  },
  0x49: {
    name: 'ESME_RINVSRCNPI',
    verdict: 'refused',
    message: 'The numbering plan of the sender is invalid; set `source_npi` to what the operator asks for.',
  },
  0x50: { name: 'ESME_RINVDSTTON', verdict: 'refused', message: 'The type of the recipient is invalid.' },
  0x51: { name: 'ESME_RINVDSTNPI', verdict: 'refused', message: 'The numbering plan of the recipient is invalid.' },
  0x53: {
    name: 'ESME_RINVSYSTYP',
    verdict: 'refused',
    message: 'The system type is wrong. Compare `system_type` with what the operator gave.',
  },
  0x54: { name: 'ESME_RINVREPFLAG', verdict: 'refused', message: 'The replace flag is invalid.' },
  0x55: { name: 'ESME_RINVNUMMSGS', verdict: 'refused', message: 'The number of messages is invalid.' },
  0x58: { name: 'ESME_RTHROTTLED', verdict: 'throttled', message: 'The SMSC accepts fewer messages per second.' },
  0x61: { name: 'ESME_RINVSCHED', verdict: 'refused', message: 'The delivery time is invalid.' },
  0x62: {
    name: 'ESME_RINVEXPIRY',
    verdict: 'refused',
    message: 'The SMSC does not accept the validity period of the message.',
  },
  0x63: { name: 'ESME_RINVDFTMSGID', verdict: 'refused', message: 'The predefined message does not exist.' },
  0x64: { name: 'ESME_RX_T_APPN', verdict: 'retry', message: 'The receiving side has a temporary error.' },
  0x65: { name: 'ESME_RX_P_APPN', verdict: 'refused', message: 'The receiving side has a permanent error.' },
  0x66: { name: 'ESME_RX_R_APPN', verdict: 'refused', message: 'The receiving side rejected the message.' },
  0x67: { name: 'ESME_RQUERYFAIL', verdict: 'refused', message: 'The query failed.' },
  0xc0: {
    name: 'ESME_RINVOPTPARSTREAM',
    verdict: 'refused',
    message: 'The optional parameters are invalid; try another `long_messages`.',
  },
  0xc1: {
    name: 'ESME_ROPTPARNOTALLWD',
    verdict: 'refused',
    message: 'An optional parameter is not allowed; try another `long_messages`.',
  },
  0xc2: { name: 'ESME_RINVPARLEN', verdict: 'refused', message: 'The length of a parameter is invalid.' },
  0xc3: { name: 'ESME_RMISSINGOPTPARAM', verdict: 'refused', message: 'The SMSC expects an optional parameter.' },
  0xc4: { name: 'ESME_RINVOPTPARAMVAL', verdict: 'refused', message: 'The value of an optional parameter is invalid.' },
  0xfe: { name: 'ESME_RDELIVERYFAILURE', verdict: 'refused', message: 'The message could not be delivered.' },
  0xff: { name: 'ESME_RUNKNOWNERR', verdict: 'refused', message: 'The SMSC does not say what is wrong.' },
  // from version 5.0; some SMSCs send them to 3.4 clients
  0x100: { name: 'ESME_RSERTYPUNAUTH', verdict: 'refused', message: 'The account may not use this service type.' },
  0x101: { name: 'ESME_RPROHIBITED', verdict: 'refused', message: 'The account may not do this.' },
  0x102: { name: 'ESME_RSERTYPUNAVAIL', verdict: 'retry', message: 'The service is unavailable.' },
  0x103: { name: 'ESME_RSERTYPDENIED', verdict: 'refused', message: 'The service is denied to the account.' },
  0x104: {
    name: 'ESME_RINVDCS',
    verdict: 'refused',
    message: 'The SMSC does not accept this `data_coding`. Try another `alphabet`.',
  },
}

/** Unknown statuses, including an operator's own (0x400 to 0x4ff), are refusals. */
export function statusOf(command_status: number): Status {
  const known = statuses[command_status]
  if (known !== undefined) return known
  const name = `0x${command_status.toString(16).padStart(8, '0')}`
  return {
    name,
    verdict: 'refused',
    message: `The SMSC answered with the status ${name}, which SMPP does not define. Ask the operator what it means.`,
  }
}

const ambiguousRefusals: ReadonlySet<number> = new Set([0x45, 0xfe, 0xff])

/** A status listed in `retried` is repeated. */
export function submitStatusOf(command_status: number, retried: ReadonlySet<number>): Status {
  const status = statusOf(command_status)
  if (status.verdict !== 'refused') return status
  const code = `0x${command_status.toString(16)}`
  if (retried.has(command_status))
    return {
      ...status,
      verdict: 'retry',
      message: `${status.message} The message is sent later because \`retry_statuses\` lists ${code}.`,
    }
  if (statuses[command_status] !== undefined && !ambiguousRefusals.has(command_status)) return status
  return {
    ...status,
    message: `${status.message} If the operator means that the message may be sent later, list ${code} in \`retry_statuses\`.`,
  }
}

export const alreadyBound = 0x05

export const answers = {
  ok: 0x00,
  later: 0x64,
  unknownCommand: 0x03,
  wrongTextLength: 0x01,
  wrongLength: 0x02,
  wrongParameters: 0xc0,
} as const
