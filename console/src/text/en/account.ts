/** Of an account's team, settings and audit log. */
export const team = {
  members: 'Members',
  invitations: 'Invitations',
  columns: { name: 'Name', email: 'E-mail', role: 'Role', twoFactor: 'Two-factor', since: 'Since', by: 'Invited by', mail: 'E-mail sent', expires: 'Expires' },
  on: 'On',
  off: 'Off',
  role: 'Role',
  roleOf: (name: string) => `Role of ${name}`,
  remove: 'Remove',
  removeNamed: (name: string) => `Remove ${name}`,
  removed: (name: string) => `${name} is no member any more.`,
  removeWhy: 'They lose access to this account at once.',
  changed: (name: string, role: string) => `${name} is ${role} now.`,
  invite: 'Invite',
  email: 'E-mail',
  send: 'Send invitation',
  invited: (email: string) => `${email} is invited.`,
  link: 'Invitation link',
  linkWhy: 'This installation sends no e-mail. Give them this link yourself; it is shown only now, works once and for 7 days.',
  withdraw: 'Withdraw',
  withdrawNamed: (email: string) => `Withdraw the invitation of ${email}`,
  withdrawn: (email: string) => `The invitation of ${email} is withdrawn.`,
  again: 'Send again',
  againNamed: (email: string) => `Send again to ${email}`,
  mail: { waiting: 'waiting', sent: 'sent', not_sent: 'not sent' } as Readonly<Record<string, string>>,
  byLink: 'by link',
} as const

export const settings = {
  name: 'Account name',
  zone: 'Account time zone',
  zoneWhy: 'Days of charts, and the windows of campaigns, are counted in it.',
  low: 'Low balance threshold',
  lowWhy: 'In US dollars. Below it the event balance.low is told, and owners get an e-mail.',
  lowWrong: 'Write an amount in dollars, such as 5 or 2.50.',
  save: 'Save',
  saved: 'Saved.',
} as const

export const audit = {
  empty: 'Nothing has been changed yet.',
  columns: { at: 'At', actor: 'Actor', action: 'Action', object: 'Object', changes: 'Changed', address: 'Address', request: 'Request' },
  actor: 'Actor',
  object: 'Object id',
  createdAfter: 'After',
  createdBefore: 'Before',
  as: (impersonator: string, actor: string) => `${impersonator} for ${actor}`,
} as const
