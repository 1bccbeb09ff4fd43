# An image for CI: programs in it find a virtual GPU.
#
#     docker build -t wavemill .
#     docker run --rm -v "$PWD:/src" -w /src wavemill wavemill exec -- ./tests
FROM rust:1.95-bookworm AS build
COPY . /wavemill
RUN cargo install --locked --path /wavemill/crates/cli --root /usr/local

FROM debian:bookworm-slim
COPY --from=build /usr/local/bin/wavemill /usr/local/bin/wavemill
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/wavemill/
# Programs that are started without `wavemill exec` find the library, too.
RUN ln -s "$(WAVEMILL_CACHE=/var/cache/wavemill WAVEMILL_COMGR=0 wavemill exec -- printenv LD_LIBRARY_PATH)" /usr/local/lib/wavemill
ENV LD_LIBRARY_PATH=/usr/local/lib/wavemill WAVEMILL_GPU=mi210
CMD ["wavemill", "info"]
