/// What reading an object unless it is still the known one has brought.
public enum ObjectReading: Sendable, Equatable {
  /// The object, which is another than the known one.
  case object(StoredObject)
  /// It is still the known one.
  case notModified
}
