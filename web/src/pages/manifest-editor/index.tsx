export function ManifestEditor() {
  return null;
}
