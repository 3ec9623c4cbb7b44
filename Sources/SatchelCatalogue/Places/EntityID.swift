/// Ids of entities: "section:key".
public enum EntityID {
  /// The id of a label in a section: "cuisine:chinese_cuisine"; "cuisine:unknown" when nothing is left of the
  /// label.
  public static func make(section: String, label: String) -> String {
    section + ":" + (PlaceText.normalize(label) ?? "unknown")
  }

  /// What stands before the first colon; nil when there is no colon, or nothing before it.
  public static func section(of id: String) -> String? {
    // Bytes, not characters: a combining mark may follow the colon.
    guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), colon > id.startIndex else { return nil }
    return String(id[..<colon])
  }
}
