/// When an object may be written.
public enum ObjectCondition: Sendable, Hashable {
  /// Whatever is there.
  case none
  /// Only when there is no object under the key.
  case ifAbsent
  /// Only when the object there is the one with this tag.
  case ifMatch(ETag)
}
