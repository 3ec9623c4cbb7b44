import SatchelAssets
import SatchelCore

/// A picture: it is refused as invalid, or scaled to a picture of the promised size.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    // Of a size by chance: those of the seeds are larger and smaller.
    let longestEdge = 1 + Int(bytes.last ?? 0) % 40
    let scaled = try ScaledImage.make(of: bytes, longestEdge: longestEdge)
    guard max(scaled.width, scaled.height) <= longestEdge, min(scaled.width, scaled.height) >= 1 else {
      fatalError("\(scaled.width) × \(scaled.height) is larger than \(longestEdge)")
    }
    let again = try scaled.bytes.withUnsafeBytes { try ScaledImage.make(of: $0, longestEdge: longestEdge) }
    guard (again.width, again.height, again.bytes) == (scaled.width, scaled.height, scaled.bytes) else {
      fatalError("a scaled picture is scaled again")
    }
  } catch let error as SatchelError {
    if error.code != .invalid { fatalError("\(error.code): \(error)") }
  } catch {
    fatalError("an error that is no SatchelError: \(error)")
  }
  return 0
}
