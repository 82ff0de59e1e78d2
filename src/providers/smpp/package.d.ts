/** Types for the used parts of the package `smpp`, which has none. */
declare module 'smpp/lib/pdu.js' {
  export class PDU {
    constructor(command: string | Buffer, fields?: Readonly<Record<string, unknown>>)
    [field: string]: unknown
    command: string
    command_status: number
    sequence_number: number
    toBuffer(): Buffer
  }
}

declare module 'smpp/lib/defs.js' {
  interface Field {
    filter?: unknown
    readonly type?: unknown
  }
  const defs: {
    readonly commands: Readonly<Record<string, { readonly params?: Readonly<Record<string, Field>> }>>
    readonly commandsById: Readonly<Record<number, { readonly command: string }>>
    readonly types: Readonly<Record<'int8' | 'cstring', unknown>>
    readonly tlvs: Readonly<Record<string, Field>>
    readonly errors: Readonly<Record<string, number>>
  }
  export default defs
}
