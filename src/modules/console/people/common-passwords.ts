/** The 10,000 most common passwords that are long enough (@zxcvbn-ts/language-common). */
export const commonPasswords: ReadonlySet<string> = new Set(
  `123qweasdzxc 1qaz2wsx3edc q1w2e3r4t5y6 1q2w3e4r5t6y mailcreated5240 qazwsxedcrfv 123456qwerty qwerty123456 polniypizdec0211 sojdlg123aljg leavemealone motherfucker 123456654321 gfhjkmgfhjkm qazwsxedc123 ghjcnjgfhjkm zxcasdqwe123 sonyericsson ghhh47hj7649 123456789qwe 1qazxsw23edc masterbating qwerasdfzxcv qweasdzxc123 flvbybcnhfnjh password1234 123456789012 1234567890ab passwordpassword qwertyuiop12 qwertyuiop123 abcdefghijkl iloveyou1234`.split(
    /\s+/,
  ),
)
