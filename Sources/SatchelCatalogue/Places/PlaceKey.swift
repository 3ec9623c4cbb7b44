/// The key of a place at one level.
public struct PlaceKey: Hashable, Sendable {
  /// The level it names the place at.
  public let level: Level
  /// For people and look-up: "cn_shanghai". Different places may share it.
  public let text: String
  /// Unlike for different places: the level's name and the components, joined by U+001F, which no component can
  /// hold.
  public let identity: String

  init(level: Level, components: [String]) {
    self.level = level
    text = components.joined(separator: "_")
    identity = ([level.name] + components).joined(separator: "\u{1F}")
  }

  public static func == (left: PlaceKey, right: PlaceKey) -> Bool { left.identity == right.identity }

  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
