import CSatchel
import Satchel

@_cdecl("satchel_photos_scan") @implementation
public func satchel_photos_scan(
  _ photos: OpaquePointer!, _ options: UnsafePointer<satchel_scan_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let given = try OptionsReader(options)
    let progress = HostProgress(given.value(\.progress) ?? nil, given.value(\.context) ?? nil)
    let wanted = try ScanOptions(given)
    let report = try HostWork.on(HostWork.Subject(ObjectIdentifier(catalogue.database))) {
      try catalogue.scan(options: wanted) { progress.report($0.json) }
    }
    if let out { try give(report.json, to: out) }
  }
}

extension ScanOptions {
  fileprivate init(_ given: OptionsReader<satchel_scan_options>) throws {
    let (minutes, parallel) = (given.number(\.time_zone_offset, default: 0), try given.parallel(\.parallel))
    guard (-1440...1440).contains(minutes) else {
      throw SatchelError(.invalid, "options: time_zone_offset: \(minutes) minutes are more than a day")
    }
    self.init(
      timeZoneOffset: Int64(minutes) * 60, removesMissing: given.flag(\.removes_missing),
      readsEverything: given.flag(\.reads_everything))
    if let parallel { self.parallel = parallel }
  }
}

extension OptionsReader {
  /// How many things are done at once; nil for 0, which leaves it to the library.
  func parallel(_ field: KeyPath<Options, Int32>) throws -> Int? {
    let number = number(field, default: 0)
    guard (0...16).contains(number) else {
      throw SatchelError(.invalid, "options: parallel: \(number) is not 0 to 16")
    }
    return number == 0 ? nil : Int(number)
  }
}
