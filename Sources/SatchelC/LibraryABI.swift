import CSatchel
import Satchel

@_cdecl("satchel_version") @implementation
@_optimize(speed)
public func satchel_version() -> UnsafePointer<CChar>! { Constant.version }

@_cdecl("satchel_status_name") @implementation
public func satchel_status_name(_ status: satchel_status) -> UnsafePointer<CChar>! {
  let index = Int(status.rawValue)
  return index < Constant.statusNames.count ? Constant.statusNames[index] : Constant.unknownStatus
}

@_cdecl("satchel_error_message") @implementation
public func satchel_error_message() -> UnsafePointer<CChar>! { ThreadError.message }

@_cdecl("satchel_error_details") @implementation
public func satchel_error_details() -> UnsafePointer<CChar>! { ThreadError.details }

@_cdecl("satchel_put_warnings") @implementation
public func satchel_put_warnings(_ out: UnsafeMutablePointer<satchel_buffer>!) -> satchel_status {
  guarded(emptying: out) { try give(ThreadWarnings.json, to: $0) }
}

@_cdecl("satchel_buffer_free") @implementation
public func satchel_buffer_free(_ buffer: UnsafeMutablePointer<satchel_buffer>!) {
  guard let buffer else { return }
  free(buffer.pointee.data)
  buffer.pointee = satchel_buffer()
}

/// C strings that are never freed.
private enum Constant {
  nonisolated(unsafe) static let version = text(Store.version)
  nonisolated(unsafe) static let unknownStatus = text("SATCHEL_E?")
  nonisolated(unsafe) static let statusNames =
    [
      "SATCHEL_OK", "SATCHEL_EINVALID", "SATCHEL_ENOTFOUND", "SATCHEL_EBUSY", "SATCHEL_EDAMAGED",
      "SATCHEL_EFOREIGN", "SATCHEL_ENEWER", "SATCHEL_EREADONLY", "SATCHEL_EFULL", "SATCHEL_EIO",
      "SATCHEL_ECLOSED", "SATCHEL_ECANCELLED", "SATCHEL_ENOMEMORY", "SATCHEL_EINTERNAL",
      "SATCHEL_ECONFLICT", "SATCHEL_ECONSTRAINT", "SATCHEL_EAUTH", "SATCHEL_EUNAVAILABLE",
      "SATCHEL_ETIMEDOUT",
    ].map(text)

  private static func text(_ text: String) -> UnsafePointer<CChar> {
    let length = text.utf8.count
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: length + 1)
    for (index, byte) in text.utf8.enumerated() { copy[index] = CChar(bitPattern: byte) }
    copy[length] = 0
    return UnsafePointer(copy)
  }
}
