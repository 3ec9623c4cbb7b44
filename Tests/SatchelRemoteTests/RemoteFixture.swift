import SatchelRemote

/// Returns the reason of a failure; nil on success.
func reason(_ body: () throws -> Void) throws -> ObjectStoreError.Reason? {
  do {
    try body()
    return nil
  } catch let error as ObjectStoreError {
    return error.reason
  }
}

extension [UInt8] {
  init(_ text: String) { self = Array(text.utf8) }
}
