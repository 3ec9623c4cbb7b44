import Satchel

// The fuzzer calls on one thread.
nonisolated(unsafe) private var satchel: Store?
nonisolated(unsafe) private var runs = 0

/// A section as a backend might send it: what was taken in comes out again, and the store stays sound.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    if runs % 500 == 0 {
      if let findings = try satchel?.check(), !findings.isEmpty { fatalError("\(findings)") }
      satchel = try Store(path: ":memory:")
    }
    runs += 1
    if let satchel { try persist(UnsafeRawBufferPointer(start: start, count: count), satchel.catalogue) }
  } catch let error as SatchelError {
    if error.code != .invalid { fatalError("\(error.code): \(error)") }
  } catch {
    fatalError("an error that is no SatchelError: \(error)")
  }
  return 0
}

private func persist(_ bytes: UnsafeRawBufferPointer, _ catalogue: Catalogue) throws {
  let place = try Location(json: ["country_code": "cn", "locality": "Shanghai"])
  let receipt = try catalogue.persist(bytes, at: place)
  guard let loaded = try catalogue.load(receipt.section, at: place, allowExpired: true) else {
    fatalError("a section that was taken in is not there")
  }
  let sent = try JSONValue(parsing: bytes)
  let isReplacement = sent["action"].map { $0.isNull || $0 == "replace" } ?? true
  // With entities, copies of one that differ make a difference: that is what the round-trip suite is about.
  let hasEntities = receipt.saved + receipt.updated + receipt.reused > 0
  if isReplacement, !hasEntities, receipt.problems.isEmpty, let content = sent["content"],
    loaded.content != content
  {
    fatalError("content without entities came back changed")
  }
  _ = try catalogue.plan(for: place)
}
