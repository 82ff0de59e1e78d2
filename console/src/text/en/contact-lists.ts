/** Of the screen of contact lists. */
export const contactLists = {
  empty: 'There are no lists yet. A list holds the contacts that you put into it.',
  create: 'New list',
  name: 'Name',
  description: 'Description',
  contacts: 'Contacts',
  createdAt: 'Created',
  save: 'Save',
  saved: (name: string) => `${name} is saved.`,
  delete: (name: string) => `Delete ${name}`,
  remove: 'Delete',
  deleted: (name: string) => `${name} is deleted. Its contacts stay.`,
  confirm: 'The list goes; its contacts stay.',
} as const
